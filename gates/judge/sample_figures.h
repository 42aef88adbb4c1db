// Converts a decision of gates/statistics to one of the schema.
//
//   figure.decision = ToDecision(decision.kind);
//
// Pure function, thread-safe; allocates nothing.

#ifndef FOOTPRINT_GATES_JUDGE_SAMPLE_FIGURES_H_
#define FOOTPRINT_GATES_JUDGE_SAMPLE_FIGURES_H_

#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/statistics/sample_decision.h"

namespace footprint {

// Returns the schema's decision for `kind`.
inline Decision ToDecision(SampleDecision::Kind kind) {
  return kind == SampleDecision::kAccept   ? ACCEPT
         : kind == SampleDecision::kReject ? REJECT
                                           : INCONCLUSIVE;
}

}  // namespace footprint

// Tested by rules_test.

#endif  // FOOTPRINT_GATES_JUDGE_SAMPLE_FIGURES_H_
