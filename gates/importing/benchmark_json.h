// Google Benchmark's JSON: the memory fields of its benchmarks.
//
//   server_benchmark --benchmark_out=out.json --benchmark_out_format=json
//
//   absl::StatusOr<ForeignFigures> figures = ParseBenchmarkJson(text);
//
// "max_bytes_used" is what the program's benchmark::MemoryManager counted:
// bytes asked for, as most do. The highest of several repetitions is taken;
// aggregates are passed over. The other fields (allocs_per_iter,
// total_allocated_bytes, net_heap_growth) are means, or of other bytes than any
// metric of profiles, and are not taken.
//
// Pure function, thread-safe; the result owns its text. Memory and time: linear
// in the text.

#ifndef FOOTPRINT_GATES_IMPORTING_BENCHMARK_JSON_H_
#define FOOTPRINT_GATES_IMPORTING_BENCHMARK_JSON_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/gates/importing/foreign_figures.h"

namespace footprint {

// Returns whether it may be JSON.
bool LooksLikeJson(absl::string_view text);

// kDataLoss: JSON that ends early. kInvalidArgument: other JSON; a benchmark
// that failed; none with memory fields, with the way to get them.
absl::StatusOr<ForeignFigures> ParseBenchmarkJson(absl::string_view text);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_IMPORTING_BENCHMARK_JSON_H_
