// Tests whether one sample lies above another, by the one-sided U test of Mann
// and Whitney, which assumes no distribution.
//
//   // resident bytes of 30 runs before and 30 runs after a change
//   if (RankTestPValue(before, after) <= 0.001) ...  // after is higher
//
// The P-value is the probability of ranks as high as those of `higher`, or
// higher, if both samples came from one distribution. Equal values share their
// mean rank. The distribution is that of these ranks, so it is exact even with
// ties.
//
// Pure functions, thread-safe. Both samples must have at least one value, and
// no NaN.

#ifndef FOOTPRINT_GATES_STATISTICS_RANK_TEST_H_
#define FOOTPRINT_GATES_STATISTICS_RANK_TEST_H_

#include <cstddef>

#include "absl/types/span.h"

namespace footprint {

// RankTestPValue is exact if both samples together have at most this many
// values.
inline constexpr size_t kMostExactRanks = 40;

// Returns the P-value: exact up to kMostExactRanks values, else approximated by
// the normal distribution.
double RankTestPValue(absl::Span<const double> lower,
                      absl::Span<const double> higher);

// Returns the exact P-value, by counting the ways to choose the ranks of
// `higher`. With n values, memory is 8 bytes x n^2 x the size of `higher`, and
// time n times as many steps.
double ExactRankTestPValue(absl::Span<const double> lower,
                           absl::Span<const double> higher);

// Returns the P-value by the normal distribution, corrected for ties and for
// continuity.
double ApproximateRankTestPValue(absl::Span<const double> lower,
                                 absl::Span<const double> higher);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_STATISTICS_RANK_TEST_H_
