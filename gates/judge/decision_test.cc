#include "footprint/gates/judge/decision.h"

#include <cstddef>
#include <vector>

#include "gtest/gtest.h"

namespace footprint {
namespace {

void AddProblem(Decision decision, Verdict* verdict) {
  verdict->add_problems()->set_decision(decision);
}

void AddJudgement(Severity severity, Decision decision, Verdict* verdict) {
  Judgement* const judgement = verdict->add_judgements();
  judgement->set_severity(severity);
  judgement->set_decision(decision);
}

TEST(DecisionTest, NothingIsAccepted) {
  Verdict verdict;
  verdict.set_decision(REJECT);
  EXPECT_EQ(ComputeDecision(verdict), ACCEPT);
}

TEST(DecisionTest, OfEachTwoTheFirstOfTheOrderHolds) {
  const std::vector<Decision> order = {BAD_CONFIGURATION, REJECT,
                                       PRODUCER_FAILED,   ENVIRONMENT_MISMATCH,
                                       INCONCLUSIVE,      ACCEPT};
  for (size_t i = 0; i < order.size(); ++i) {
    for (size_t j = i; j < order.size(); ++j) {
      Verdict verdict;
      AddProblem(order[j], &verdict);
      AddProblem(order[i], &verdict);
      EXPECT_EQ(ComputeDecision(verdict), order[i]);
    }
  }
}

TEST(DecisionTest, OnlyARuleThatBlocksDecides) {
  Verdict verdict;
  AddJudgement(WARN, REJECT, &verdict);
  AddJudgement(AUDIT, REJECT, &verdict);
  EXPECT_EQ(ComputeDecision(verdict), ACCEPT);
  AddJudgement(BLOCK, REJECT, &verdict);
  EXPECT_EQ(ComputeDecision(verdict), REJECT);
  AddProblem(INCONCLUSIVE, &verdict);
  EXPECT_EQ(ComputeDecision(verdict), REJECT);
}

}  // namespace
}  // namespace footprint
