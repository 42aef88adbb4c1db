// The rules by which other tools find a regression in a history of single runs,
// written from their documentation, to compare them with JudgeRegression on the
// same samples.
//
//   for (const RivalPolicy& policy : RivalPolicies()) {
//     if (policy.alarms(history, run)) Count(policy.name);
//   }
//
// Pure; thread-safe. A history must have at least 2 runs, the oldest first, all
// above 0. The first call makes the list of policies, which is never freed.
// Memory: two copies of the history while a policy runs.

#ifndef FOOTPRINT_TOOLS_RESEARCH_RIVAL_POLICIES_H_
#define FOOTPRINT_TOOLS_RESEARCH_RIVAL_POLICIES_H_

#include <vector>

#include "absl/types/span.h"

namespace footprint {

struct RivalPolicy {
  const char* name;
  bool (*alarms)(absl::Span<const double> history, double run);
};

// Returns the policies:
// * Ratio of single runs: this run over the last one is above a threshold, 200
//   % by default (github-action-benchmark's alert-threshold).
// * Percent of the last run: this run is more than 5 % above it, asv's default
//   for regressions_thresholds; and more than 2 %, as people set it for memory.
// * Interquartile range of values: this run is above the median of the history
//   by more than 3 ranges (Bencher's "iqr" with an upper boundary of 3).
// * Interquartile range of changes: this change is greater than the third
//   quartile of the sizes of the history's changes plus 3 ranges (rustc-perf's
//   significance threshold).
const std::vector<RivalPolicy>& RivalPolicies();

// Returns the quantile, interpolated between two neighbours; `share` is from 0
// to 1.
double ComputeQuantile(absl::Span<const double> sample, double share);

}  // namespace footprint

#endif  // FOOTPRINT_TOOLS_RESEARCH_RIVAL_POLICIES_H_
