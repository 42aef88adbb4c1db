// Tests whether one sample lies above another: the U test of Mann and Whitney,
// one-sided, without any assumption on the distribution.
//
//   // resident bytes of 30 runs before and 30 runs after a change
//   if (RankTestPValue(before, after) <= 0.001) ...  // after is higher
//
// The P-value is the probability of ranks as high as those of `higher`, or
// higher, if both samples came from one distribution. Equal values share their
// mean rank, and the distribution is that of the ranks at hand: with ties it is
// exact, too.
//
// Pure; thread-safe. Both samples have a value at least, none of which is NaN.

#ifndef FOOTPRINT_GATES_STATISTICS_RANK_TEST_H_
#define FOOTPRINT_GATES_STATISTICS_RANK_TEST_H_

#include <cstddef>

#include "absl/types/span.h"

namespace footprint {

// Up to so many values of both samples together the P-value is exact.
inline constexpr size_t kMostExactRanks = 40;

// Exact up to kMostExactRanks values, else by the normal distribution.
double RankTestPValue(absl::Span<const double> lower,
                      absl::Span<const double> higher);

// Counts the ways to share out the ranks. Memory: 8 bytes x n^2 x the size of
// `higher`; time: n times that, of n values.
double ExactRankTestPValue(absl::Span<const double> lower,
                           absl::Span<const double> higher);

// Approximates the value, with the correction for ties and for continuity.
double ApproximateRankTestPValue(absl::Span<const double> lower,
                                 absl::Span<const double> higher);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_STATISTICS_RANK_TEST_H_
