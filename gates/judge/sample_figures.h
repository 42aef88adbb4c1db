// Converts the decision of the statistics for the rules over samples.
//
//   figure.decision = ToDecision(decision.kind);
//
// Pure, thread-safe, without memory.

#ifndef FOOTPRINT_GATES_JUDGE_SAMPLE_FIGURES_H_
#define FOOTPRINT_GATES_JUDGE_SAMPLE_FIGURES_H_

#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/statistics/sample_decision.h"

namespace footprint {

// Returns the decision of the schema that stands for that of the statistics.
inline Decision ToDecision(SampleDecision::Kind kind) {
  return kind == SampleDecision::kAccept   ? ACCEPT
         : kind == SampleDecision::kReject ? REJECT
                                           : INCONCLUSIVE;
}

}  // namespace footprint

// Tested by rules_test.

#endif  // FOOTPRINT_GATES_JUDGE_SAMPLE_FIGURES_H_
