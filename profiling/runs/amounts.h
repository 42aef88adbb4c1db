// Sums of amounts: exact figures add up, and so do variances of estimates that
// do not depend on each other.
//
//   Amount sum;
//   for (const SiteAmounts& site : image.sites()) AddTo(site.at_peak(), &sum);
//   std::cout << sum.bytes() << " +- " << SigmaBytes(sum);
//
// A sum that no int64 holds, of a damaged record, is the largest or smallest.
// Pure; thread-safe.

#ifndef FOOTPRINT_PROFILING_RUNS_AMOUNTS_H_
#define FOOTPRINT_PROFILING_RUNS_AMOUNTS_H_

#include <cmath>
#include <cstdint>
#include <limits>

#include "footprint/profiling/runs/measured_run.pb.h"

namespace footprint {

inline int64_t SaturatedSum(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? std::numeric_limits<int64_t>::min()
               : std::numeric_limits<int64_t>::max();
}

inline void AddTo(const Amount& amount, Amount* sum) {
  sum->set_bytes(SaturatedSum(sum->bytes(), amount.bytes()));
  sum->set_count(SaturatedSum(sum->count(), amount.count()));
  sum->set_variance(sum->variance() + amount.variance());
}

// The standard deviation of the bytes; 0: exact.
inline double SigmaBytes(const Amount& amount) {
  return std::sqrt(amount.variance());
}

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RUNS_AMOUNTS_H_
