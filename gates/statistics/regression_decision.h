// Decides from two samples whether a program with varying figures needs more
// than before. There are three verdicts.
//
//   // resident bytes of 30 runs before and of the runs so far
//   const SampleDecision decision =
//       JudgeRegression(before, after, {0.005, 0.02});
//
// kReject: the runs lie above the baseline's (U test), and their median exceeds
// the baseline's by more than `tolerance`. kAccept: the runs lie below those of
// a program that has grown by `detectable` (U test against the baseline scaled
// by this growth). Otherwise the verdict is kInconclusive.
//
// Over all looks of kSampleSchedule, a program that did not change is rejected
// with a probability of at most kFalseAlarmShare, and one that grew by
// `detectable` is accepted with at most kMissedShare. Both probabilities are
// over the choice of both samples, since the baseline is a sample too.
//
// Pure functions, thread-safe. Memory: sorted copies of the samples while it
// runs, and the reason.

#ifndef FOOTPRINT_GATES_STATISTICS_REGRESSION_DECISION_H_
#define FOOTPRINT_GATES_STATISTICS_REGRESSION_DECISION_H_

#include "absl/types/span.h"
#include "footprint/gates/statistics/sample_decision.h"

namespace footprint {

inline constexpr double kMissedShare = 0.01;

struct RegressionRule {
  // Shares of the baseline's median: 0.005 is half a per cent. `tolerance` must
  // not be negative, and `detectable` must be above it.
  double tolerance = 0;
  double detectable = 0;
};

// Returns the middle value, or the mean of the two in the middle. The sample
// must not be empty.
double ComputeMedian(absl::Span<const double> sample);

// Returns the decision. It is kInconclusive if either sample has fewer values
// than the first look of kSampleSchedule. All values must be above zero.
SampleDecision JudgeRegression(absl::Span<const double> baseline,
                               absl::Span<const double> current,
                               const RegressionRule& rule);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_STATISTICS_REGRESSION_DECISION_H_
