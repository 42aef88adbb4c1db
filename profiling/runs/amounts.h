// Adds up amounts. Exact figures add up, and so do the variances of independent
// estimates.
//
//   Amount sum;
//   for (const SiteAmounts& site : image.sites()) AddTo(site.at_peak(), &sum);
//   std::cout << sum.bytes() << " +- " << SigmaBytes(sum);
//
// Every report takes the sigma of a sum from here, not sums of sigmas. An
// estimate's variance is itself estimated; if by chance few blocks were
// sampled, the variance is too small as well. If n of many blocks of one size
// were sampled, then, in units of that size, the estimate and its variance are
// n. But the likelihood of the expected number is a gamma density whose mean
// and variance are n + 1, so its mean square distance from n is n + 2.
// SigmaBytes therefore multiplies the variance by 1 + 2 / n. Agresti and
// Coull's interval (The American Statistician 52, 1998) has the same width at
// two sigma if blocks are rare (n + z^2 / 2, and z = 2); N. Gehrels
// (Astrophysical Journal 303, 1986) has the exact limits. 1 / n is the variance
// over the square of the bytes: 0 if every block is sampled, and never more
// than 1.
//
// If int64 cannot hold a sum, as in a damaged record, it is the largest or
// smallest value. Pure; thread-safe. Sums are in the caller's messages;
// allocates nothing.

#ifndef FOOTPRINT_PROFILING_RUNS_AMOUNTS_H_
#define FOOTPRINT_PROFILING_RUNS_AMOUNTS_H_

#include <cmath>
#include <cstdint>

#include "footprint/base/memory/saturated_sum.h"
#include "footprint/profiling/records/measured_run.pb.h"

namespace footprint {

// Adds `amount` to `*sum`.
inline void AddTo(const Amount& amount, Amount* sum) {
  sum->set_bytes(SaturatedSum(sum->bytes(), amount.bytes()));
  sum->set_count(SaturatedSum(sum->count(), amount.count()));
  sum->set_variance(sum->variance() + amount.variance());
}

// Returns the standard deviation of the true bytes around the estimate; 0 if it
// is exact.
inline double SigmaBytes(int64_t bytes, double variance) {
  const double square = static_cast<double>(bytes) * static_cast<double>(bytes);
  const double inverse_count = variance < square ? variance / square : 1;
  return std::sqrt(variance * (1 + 2 * inverse_count));
}

inline double SigmaBytes(const Amount& amount) {
  return SigmaBytes(amount.bytes(), amount.variance());
}

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RUNS_AMOUNTS_H_
