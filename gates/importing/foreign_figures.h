// Figures that another tool measured, and the memory profile that they become.
//
//   absl::StatusOr<ForeignFigures> figures = ParseForeignFile(bytes);
//   absl::Status status = AddFigures(*figures, &all);
//   MemoryProfile profile = ProfileOfFigures(all, "//a:b", "serve");
//
// The profile that comes of it says that it is imported, from which tool, and
// which bytes were counted. Its metrics are STATISTICAL: another run gives
// other figures, so they are for limits, and an exact value over them is a
// mistake that the verdict names.
//
// Pure functions, thread-safe; results own what they hold. Memory and time:
// linear in the benchmarks and sites.

#ifndef FOOTPRINT_GATES_IMPORTING_FOREIGN_FIGURES_H_
#define FOOTPRINT_GATES_IMPORTING_FOREIGN_FIGURES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

struct ForeignSite {
  std::string name;
  int64_t live_bytes = 0;
};

// The highest figure of one benchmark.
struct ForeignPeak {
  // "" of a tool that knows no benchmarks.
  std::string benchmark;
  MetricKind metric = PEAK_LIVE_REQUESTED_BYTES;
  int64_t bytes = 0;
  // Who held the bytes; in any order.
  std::vector<ForeignSite> sites;
};

struct ForeignFigures {
  // "massif", "heaptrack", "google benchmark", "pprof", "gperftools" or
  // "jemalloc".
  std::string tool;
  // "requested bytes, the highest of 57 snapshots".
  std::string counts;
  std::vector<ForeignPeak> peaks;
  int file_count = 1;
};

// Keeps the higher figure of each benchmark, with its sites.
absl::Status AddFigures(const ForeignFigures& more, ForeignFigures* all);

// `benchmark` names what the tool gave no name. Sites with one name are added
// up; the largest 50 of a benchmark stay.
MemoryProfile ProfileOfFigures(const ForeignFigures& figures,
                               const std::string& label,
                               const std::string& benchmark);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_IMPORTING_FOREIGN_FIGURES_H_
