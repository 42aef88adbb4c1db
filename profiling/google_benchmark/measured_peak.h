// Reads the peak from a Google Benchmark run, of any release.
//
//   std::optional<int64_t> bytes = MeasuredPeakBytes(run.memory_result);
//
// Run::memory_result is a pointer that is null if memory was not measured.
// Since release 1.9.2 it is the result itself, whose counts are then zeros.
//
// Pure; thread-safe. Memory: none.

#ifndef FOOTPRINT_PROFILING_GOOGLE_BENCHMARK_MEASURED_PEAK_H_
#define FOOTPRINT_PROFILING_GOOGLE_BENCHMARK_MEASURED_PEAK_H_

#include <cstdint>
#include <optional>
#include <type_traits>

namespace footprint {

// Returns nothing if memory was not measured, and since release 1.9.2 also if
// nothing was allocated.
template <typename Result>
std::optional<int64_t> MeasuredPeakBytes(const Result& result) {
  if constexpr (std::is_pointer_v<Result>) {
    if (result == nullptr) return std::nullopt;
    return result->max_bytes_used;
  } else {
    if (result.num_allocs == 0 && result.max_bytes_used == 0) {
      return std::nullopt;
    }
    return result.max_bytes_used;
  }
}

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_GOOGLE_BENCHMARK_MEASURED_PEAK_H_
