// Decides from samples whether a share of all runs fits into a budget: the
// tolerance bound of order statistics (Wilks 1941), which assumes no
// distribution.
//
//   // none of 59 runs was above max_bytes
//   FitConfidence(59, 0, 0.95);         // 0.9515: 95 % of runs fit, we may say
//   RunsForConfidence(0, 0.95, 0.95);   // 59
//   JudgeBudget({59, 0}, {0.95, 0.95}).kind;  // kAccept
//
// Pure; thread-safe. Takes no memory. Time of JudgeBudget: the square of the
// runs.

#ifndef FOOTPRINT_GATES_STATISTICS_BUDGET_BOUND_H_
#define FOOTPRINT_GATES_STATISTICS_BUDGET_BOUND_H_

#include <cstdint>

#include "footprint/gates/statistics/sample_decision.h"

namespace footprint {

// Returns how sure it is that at least `share` of all runs fit, where
// `exceeding` of `run_count` did not: 1 less the probability of so few if fewer
// fit. `share` lies between 0 and 1, both excluded, here and below.
double FitConfidence(int64_t run_count, int64_t exceeding, double share);

// The fewest runs after which FitConfidence is at least `confidence`, between
// 0 and 1, if `exceeding` of them do not fit.
int64_t RunsForConfidence(int64_t exceeding, double share, double confidence);

// The probability of at least so many that do not fit, if `share` of all do.
double MisfitPValue(int64_t run_count, int64_t exceeding, double share);

struct BudgetRule {
  double share = 0;
  double confidence = 0;
};

struct FittingRuns {
  int64_t run_count = 0;
  int64_t exceeding = 0;
};

// Accepts where `share` of the runs fit at the confidence, rejects where as
// many misfits have a probability of at most kFalseAlarmShare if they do; each
// over all looks up to this one together. Else inconclusive.
SampleDecision JudgeBudget(const FittingRuns& runs, const BudgetRule& rule);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_STATISTICS_BUDGET_BOUND_H_
