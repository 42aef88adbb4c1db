// Decides from samples whether a share of all runs fits into a budget, by the
// tolerance bound of order statistics (Wilks 1941), which assumes no
// distribution.
//
//   // none of 59 runs was above max_bytes
//   FitConfidence(59, 0, 0.95);         // 0.9515: enough to say "95 % fit"
//   RunsForConfidence(0, 0.95, 0.95);   // 59
//   JudgeBudget({59, 0}, {0.95, 0.95}).kind;  // kAccept
//
// Pure functions, thread-safe. Only JudgeBudget allocates: 8 bytes for each
// run. Its time is quadratic in the runs.

#ifndef FOOTPRINT_GATES_STATISTICS_BUDGET_BOUND_H_
#define FOOTPRINT_GATES_STATISTICS_BUDGET_BOUND_H_

#include <cstdint>

#include "footprint/gates/statistics/sample_decision.h"

namespace footprint {

// Returns the confidence that at least `share` of all runs fit, if `exceeding`
// of `run_count` did not. It is 1 less the probability that so few runs do not
// fit if exactly that share fits. Here and below, `share` must be between 0 and
// 1, both excluded.
double FitConfidence(int64_t run_count, int64_t exceeding, double share);

// Returns the fewest runs after which FitConfidence is at least `confidence`,
// between 0 and 1, if `exceeding` of them do not fit.
int64_t RunsForConfidence(int64_t exceeding, double share, double confidence);

// Returns the probability that at least `exceeding` runs do not fit if `share`
// of all runs do.
double MisfitPValue(int64_t run_count, int64_t exceeding, double share);

struct BudgetRule {
  double share = 0;
  double confidence = 0;
};

struct FittingRuns {
  int64_t run_count = 0;
  int64_t exceeding = 0;
};

// Accepts if the samples show with the rule's confidence that at least `share`
// of all runs fit. Rejects if, with exactly that share, so many misfits have a
// probability of at most kFalseAlarmShare. Both probabilities are over all
// looks of the schedule up to this one. Otherwise the decision is
// kInconclusive.
SampleDecision JudgeBudget(const FittingRuns& runs, const BudgetRule& rule);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_STATISTICS_BUDGET_BOUND_H_
