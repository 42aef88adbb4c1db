// Summarizes a verdict by deployment: the number of its rules, and its nearest
// limit.
//
//   for (const DeploymentSummary& each : SummarizeDeployments(verdict)) {
//     Show(each.label, each.rule_count);
//     if (each.nearest >= 0) {
//       Show(MarginText(verdict.judgements(each.nearest)));
//     }
//   }
//
// Pure functions, thread-safe; results copy what they name. Memory: a label for
// each deployment. Time: n log n in the judgements.

#ifndef FOOTPRINT_GATES_REPORTS_DEPLOYMENT_SUMMARY_H_
#define FOOTPRINT_GATES_REPORTS_DEPLOYMENT_SUMMARY_H_

#include <string>
#include <vector>

#include "footprint/gates/judge/gate.pb.h"

namespace footprint {

struct DeploymentSummary {
  std::string label;
  int rule_count = 0;
  // Blocking rules that do not hold or could not be decided.
  int rejected_count = 0;
  int warned_count = 0;
  // Index of the judgement with the least margin. A rule that rejects comes
  // first, then one that warns, then limits that hold and have a margin, then
  // an AUDIT rule that does not hold; an exact value or a limit of zero that
  // holds only if there is no other. -1: nothing was judged, as a problem with
  // this label says.
  int nearest = -1;
};

// Summarizes the deployments in the order of the judgements; those that only a
// problem names come last.
std::vector<DeploymentSummary> SummarizeDeployments(const Verdict& verdict);

// Returns the margin of a limit as a share of it: 0.25 is a quarter left, -0.25
// a quarter too much. It is infinite for an exact value that holds, and for a
// limit of zero unless the value is zero too.
double MarginShare(const Judgement& judgement);

// Returns "25.0 % of 2.00 MiB", "none of 2.00 MiB", "16 B over 2.00 MiB",
// "exact", or "undecided" if the rule could not be decided.
std::string MarginText(const Judgement& judgement);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_REPORTS_DEPLOYMENT_SUMMARY_H_
