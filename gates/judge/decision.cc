#include "footprint/gates/judge/decision.h"

namespace footprint {

Decision ComputeDecision(const Verdict& verdict) {
  constexpr Decision kOrder[] = {BAD_CONFIGURATION, REJECT, PRODUCER_FAILED,
                                 ENVIRONMENT_MISMATCH, INCONCLUSIVE};
  bool applies[Decision_ARRAYSIZE] = {};
  for (const Problem& problem : verdict.problems()) {
    applies[problem.decision()] = true;
  }
  for (const Judgement& judgement : verdict.judgements()) {
    if (judgement.severity() == BLOCK) applies[judgement.decision()] = true;
  }
  for (Decision decision : kOrder) {
    if (applies[decision]) return decision;
  }
  return ACCEPT;
}

}  // namespace footprint
