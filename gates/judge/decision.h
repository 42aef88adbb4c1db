// The one decision that follows from all that was judged.
//
//   verdict.set_decision(ComputeDecision(verdict));
//
// Pure function, thread-safe. Takes no memory. Time: linear in the judgements
// and problems.

#ifndef FOOTPRINT_GATES_JUDGE_DECISION_H_
#define FOOTPRINT_GATES_JUDGE_DECISION_H_

#include "footprint/gates/judge/gate.pb.h"

namespace footprint {

// The first decision, in gate.proto's order, that a problem has, or a judgement
// of a rule that blocks; ACCEPT if there is none. `verdict`'s own decision is
// not looked at.
Decision ComputeDecision(const Verdict& verdict);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_JUDGE_DECISION_H_
