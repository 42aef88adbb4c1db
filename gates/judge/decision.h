// Computes the decision that follows from all judgements and problems of a
// verdict.
//
//   verdict.set_decision(ComputeDecision(verdict));
//
// Pure function, thread-safe. Allocates nothing. Time: linear in the judgements
// and problems.

#ifndef FOOTPRINT_GATES_JUDGE_DECISION_H_
#define FOOTPRINT_GATES_JUDGE_DECISION_H_

#include "footprint/gates/judge/gate.pb.h"

namespace footprint {

// Returns the first decision, in gate.proto's order, of any problem or of any
// judgement by a blocking rule; ACCEPT if there is neither. Ignores the
// decision that `verdict` already has.
Decision ComputeDecision(const Verdict& verdict);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_JUDGE_DECISION_H_
