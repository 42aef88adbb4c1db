// Decides from two samples whether a program needs more than before, if its
// figures vary: three verdicts.
//
//   // resident bytes of 30 runs before and of the runs so far
//   const SampleDecision decision =
//       JudgeRegression(before, after, {0.005, 0.02});
//
// kReject: the runs lie above the baseline's (U test) and their median above
// its median by more than `tolerance`. kAccept: they lie below those of a
// program that had grown by `detectable` (U test against the baseline that much
// higher). Else kInconclusive.
//
// The errors, over all looks of kSampleSchedule: a program that did not change
// is rejected with a probability of at most kFalseAlarmShare, and one that grew
// by `detectable` accepted with at most kMissedShare. Both are over the choice
// of both samples: a baseline is drawn, too.
//
// Pure; thread-safe. Memory: sorted copies of the samples while it runs, and
// the reason.

#ifndef FOOTPRINT_GATES_STATISTICS_REGRESSION_DECISION_H_
#define FOOTPRINT_GATES_STATISTICS_REGRESSION_DECISION_H_

#include "absl/types/span.h"
#include "footprint/gates/statistics/sample_decision.h"

namespace footprint {

inline constexpr double kMissedShare = 0.01;

struct RegressionRule {
  // A share of the baseline's median: 0.005 is half a per cent. Zero or above;
  // `detectable` is above it.
  double tolerance = 0;
  double detectable = 0;
};

// The middle value, or the mean of the two in the middle. At least one.
double ComputeMedian(absl::Span<const double> sample);

// Values are above zero.
SampleDecision JudgeRegression(absl::Span<const double> baseline,
                               absl::Span<const double> current,
                               const RegressionRule& rule);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_STATISTICS_REGRESSION_DECISION_H_
