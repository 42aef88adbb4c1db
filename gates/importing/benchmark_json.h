// Parses the memory fields in Google Benchmark's JSON.
//
//   server_benchmark --benchmark_out=out.json --benchmark_out_format=json
//
//   absl::StatusOr<ForeignFigures> figures = ParseBenchmarkJson(text);
//
// "max_bytes_used" is what the program's benchmark::MemoryManager counted,
// which is usually requested bytes. The highest of several repetitions counts;
// aggregates are ignored. The other fields (allocs_per_iter,
// total_allocated_bytes, net_heap_growth) are ignored, since they are means, or
// count other bytes than any metric of profiles.
//
// Pure function, thread-safe; the result owns its text. Memory and time: linear
// in the text.

#ifndef FOOTPRINT_GATES_IMPORTING_BENCHMARK_JSON_H_
#define FOOTPRINT_GATES_IMPORTING_BENCHMARK_JSON_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/gates/importing/foreign_figures.h"

namespace footprint {

// Returns whether the text begins as a JSON object does: with '{', after
// blanks.
bool LooksLikeJson(absl::string_view text);

// Returns the highest "max_bytes_used" of each benchmark. Returns kDataLoss if
// the text is not valid JSON, for example because it was cut off. Returns
// kInvalidArgument if it is not Google Benchmark's JSON, nests too deep, has a
// failed benchmark or a value that is not a number of bytes, or has no
// benchmark with memory fields; the message then says how to get them.
absl::StatusOr<ForeignFigures> ParseBenchmarkJson(absl::string_view text);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_IMPORTING_BENCHMARK_JSON_H_
