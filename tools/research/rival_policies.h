// The rules by which other tools tell a regression from a history of single
// runs, written from their documentation, to be compared with JudgeRegression
// on the same samples.
//
//   for (const RivalPolicy& policy : RivalPolicies()) {
//     if (policy.alarms(history, run)) Count(policy.name);
//   }
//
// Pure; thread-safe. A history has at least 2 runs, oldest first, all above 0.
// The list of policies is made by the first call, and never freed. Memory: two
// copies of the history while a policy runs.

#ifndef FOOTPRINT_TOOLS_RESEARCH_RIVAL_POLICIES_H_
#define FOOTPRINT_TOOLS_RESEARCH_RIVAL_POLICIES_H_

#include <vector>

#include "absl/types/span.h"

namespace footprint {

struct RivalPolicy {
  const char* name;
  bool (*alarms)(absl::Span<const double> history, double run);
};

// * Ratio of single runs: this run over the last one above a threshold, 200 %
//   by default (github-action-benchmark's alert-threshold).
// * Percent of the last run: more than 5 % above it, as asv's default for
//   regressions_thresholds; and more than 2 %, as people set it for memory.
// * Interquartile range, of values: above the median of the history by more
//   than 3 ranges (Bencher's "iqr" with an upper boundary of 3).
// * Interquartile range, of changes: this change greater than the third
//   quartile of the changes of the history, in size, and 3 ranges (rustc-perf's
//   significance threshold).
const std::vector<RivalPolicy>& RivalPolicies();

// Returns a value between the two beside it; `share` is from 0 to 1.
double ComputeQuantile(absl::Span<const double> sample, double share);

}  // namespace footprint

#endif  // FOOTPRINT_TOOLS_RESEARCH_RIVAL_POLICIES_H_
