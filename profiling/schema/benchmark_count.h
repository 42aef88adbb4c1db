// The last line that a benchmark program writes to standard error. It tells the
// runner that measures the program from outside how many benchmarks ran.
//
//   std::cerr << BenchmarkCountLine(5);  // "benchmarks that ran: 5\n"
//   ReadBenchmarkCount(standard_error);  // 5
//
// Pure functions, thread-safe. Results are copies and the only memory. A text
// without such a line is not an error: its count is kUnknownBenchmarkCount.

#ifndef FOOTPRINT_PROFILING_SCHEMA_BENCHMARK_COUNT_H_
#define FOOTPRINT_PROFILING_SCHEMA_BENCHMARK_COUNT_H_

#include <cstdint>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace footprint {

inline constexpr char kBenchmarkCountPrefix[] = "benchmarks that ran: ";
inline constexpr int64_t kUnknownBenchmarkCount = -1;

// Returns the line, with its newline.
inline std::string BenchmarkCountLine(size_t count) {
  return absl::StrCat(kBenchmarkCountPrefix, count, "\n");
}

// Returns the count in the last such line, or kUnknownBenchmarkCount.
inline int64_t ReadBenchmarkCount(absl::string_view standard_error) {
  const size_t begin = standard_error.rfind(kBenchmarkCountPrefix);
  if (begin == absl::string_view::npos ||
      (begin > 0 && standard_error[begin - 1] != '\n')) {
    return kUnknownBenchmarkCount;
  }
  const absl::string_view rest =
      standard_error.substr(begin + sizeof(kBenchmarkCountPrefix) - 1);
  int64_t count = 0;
  return absl::SimpleAtoi(rest.substr(0, rest.find('\n')), &count) && count >= 0
             ? count
             : kUnknownBenchmarkCount;
}

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_SCHEMA_BENCHMARK_COUNT_H_
