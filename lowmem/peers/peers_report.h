// Writes the figures of lowmem_peers as a table, a picture or a page.
//
//   const auto table = ReadPeersTable(text);
//   if (!table.ok()) return table.status();
//   std::cout << PeersText(*table);
//
// The figures are the JSON that lowmem_peers.py writes. The table owns its
// data. Pure functions, thread-safe. Memory: some times the text.

#ifndef FOOTPRINT_LOWMEM_PEERS_PEERS_REPORT_H_
#define FOOTPRINT_LOWMEM_PEERS_PEERS_REPORT_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace footprint {

// One run of one peer.
struct PeerRun {
  int64_t limit_bytes = 0;
  std::string verdict;  // "ran", "killed", "no answer" or "error"
  std::string detail;
  double wall_seconds = 0;
  int64_t read_bytes = 0;
  int64_t peak_bytes = -1;       // -1: not measured
  double tokens_per_second = 0;  // 0: the run did not end
};

struct PeerRow {
  std::string peer;
  std::string version;
  // Says why the peer did not run, and how to install it; empty if it ran.
  std::string missing;
  std::string install;
  std::vector<PeerRun> runs;
};

struct PeersModel {
  std::string name;
  std::string kind;  // "decoder" or "encoder"
  int64_t bytes = 0;
  int64_t tokens = 0;
  std::vector<PeerRow> peers;
};

struct PeersTable {
  std::vector<int64_t> limits;
  double most_seconds = 0;
  std::vector<PeersModel> models;
  // Processor, kernel, disk and the like, in their order.
  std::vector<std::pair<std::string, std::string>> facts;
  std::string command;
};

// Returns InvalidArgument if the text is not the JSON of lowmem_peers.py.
absl::StatusOr<PeersTable> ReadPeersTable(absl::string_view text);

// Each returns the table in a format: for a terminal, as Markdown, as an SVG
// file, and as a self-contained page.
std::string PeersText(const PeersTable& table);
std::string PeersMarkdown(const PeersTable& table);
std::string PeersSvg(const PeersTable& table);
std::string PeersPage(const PeersTable& table);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_PEERS_PEERS_REPORT_H_
