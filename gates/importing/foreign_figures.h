// Converts figures that another tool measured to a memory profile.
//
//   absl::StatusOr<ForeignFigures> figures = ParseForeignFile(bytes);
//   absl::Status status = AddFigures(*figures, &all);
//   MemoryProfile profile = ProfileOfFigures(all, "//a:b", "serve");
//
// The profile says that it is imported, from which tool, and which bytes were
// counted. Its metrics are STATISTICAL, since they vary from run to run. So
// limits may judge them, but an exact value is a mistake that the verdict
// names.
//
// Pure functions, thread-safe; results own copies. Memory and time: linear in
// the benchmarks and sites.

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
  // "" if the tool has no benchmarks.
  std::string benchmark;
  MetricKind metric = PEAK_LIVE_REQUESTED_BYTES;
  int64_t bytes = 0;
  // The sites that held the bytes, in any order.
  std::vector<ForeignSite> sites;
};

struct ForeignFigures {
  // "massif", "heaptrack", "google benchmark", "pprof", "gperftools" or
  // "jemalloc".
  std::string tool;
  // The kind of bytes that was counted: "requested bytes, the highest of 57
  // snapshots".
  std::string counts;
  std::vector<ForeignPeak> peaks;
  int file_count = 1;
};

// Adds figures to `all`. Keeps the higher figure of each benchmark, with its
// sites. Returns kInvalidArgument if `more` is from another tool than `all`, or
// counts other bytes for a benchmark. In the latter case `all` may have some of
// the figures already.
absl::Status AddFigures(const ForeignFigures& more, ForeignFigures* all);

// Returns the profile. `benchmark` is the name for figures without one. Sites
// with the same name are added up, and the largest 50 of a benchmark stay.
MemoryProfile ProfileOfFigures(const ForeignFigures& figures,
                               const std::string& label,
                               const std::string& benchmark);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_IMPORTING_FOREIGN_FIGURES_H_
