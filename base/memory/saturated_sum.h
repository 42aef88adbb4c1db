// Sums and differences that stay at the largest or smallest int64 if the exact
// result would overflow, since a damaged record may hold any figure.
//
//   total = SaturatedSum(total, image.live_bytes());
//
// Pure; thread-safe; allocates nothing.

#ifndef FOOTPRINT_BASE_MEMORY_SATURATED_SUM_H_
#define FOOTPRINT_BASE_MEMORY_SATURATED_SUM_H_

#include <cstdint>
#include <limits>

namespace footprint {

inline int64_t SaturatedSum(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? std::numeric_limits<int64_t>::min()
               : std::numeric_limits<int64_t>::max();
}

inline int64_t SaturatedDifference(int64_t a, int64_t b) {
  int64_t difference = 0;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return a < 0 ? std::numeric_limits<int64_t>::min()
               : std::numeric_limits<int64_t>::max();
}

}  // namespace footprint

// Tested by //profiling/runs:amounts_test.

#endif  // FOOTPRINT_BASE_MEMORY_SATURATED_SUM_H_
