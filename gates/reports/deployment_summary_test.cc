#include "footprint/gates/reports/deployment_summary.h"

#include <cstdint>
#include <string>
#include <vector>

#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/reports/example_verdict.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

Judgement MakeJudgement(RuleKind rule, int64_t measured, int64_t limit,
                        Decision decision) {
  Judgement judgement;
  judgement.set_label("//a:b");
  judgement.set_metric(PEAK_LIVE_USABLE_BYTES);
  judgement.set_rule(rule);
  judgement.set_measured(measured);
  judgement.set_limit(limit);
  judgement.set_severity(BLOCK);
  judgement.set_decision(decision);
  return judgement;
}

// Returns the index of the nearest of `judgements`, all of one deployment.
int FindNearest(const std::vector<Judgement>& judgements) {
  Verdict verdict;
  for (const Judgement& judgement : judgements) {
    *verdict.add_judgements() = judgement;
  }
  return SummarizeDeployments(verdict).at(0).nearest;
}

TEST(DeploymentSummaryTest, CountsByDeployment) {
  const std::vector<DeploymentSummary> summaries =
      SummarizeDeployments(ExampleVerdict());
  ASSERT_EQ(summaries.size(), 3U);
  EXPECT_EQ(summaries[0].label, "//a:b");
  EXPECT_EQ(summaries[0].rule_count, 2);
  EXPECT_EQ(summaries[0].rejected_count, 1);
  EXPECT_EQ(summaries[0].warned_count, 0);
  EXPECT_EQ(summaries[0].nearest, 1);
  EXPECT_EQ(summaries[1].label, "//c:d");
  EXPECT_EQ(summaries[1].warned_count, 1);
  EXPECT_EQ(summaries[1].nearest, 2);
  // Only a problem names this deployment.
  EXPECT_EQ(summaries[2].label, "//e:f");
  EXPECT_EQ(summaries[2].rule_count, 0);
  EXPECT_EQ(summaries[2].nearest, -1);
}

TEST(DeploymentSummaryTest, TheNearestIsTheLeastShareOfItsLimit) {
  EXPECT_EQ(FindNearest({MakeJudgement(MAXIMUM, 50, 100, ACCEPT),
                         MakeJudgement(MAXIMUM, 900, 1000, ACCEPT)}),
            1);
  EXPECT_EQ(FindNearest({MakeJudgement(MINIMUM, 101, 100, ACCEPT),
                         MakeJudgement(MAXIMUM, 900, 1000, ACCEPT)}),
            0);
}

TEST(DeploymentSummaryTest, AMarginIsAShareOfTheLimit) {
  EXPECT_EQ(MarginShare(MakeJudgement(MAXIMUM, 75, 100, ACCEPT)), 0.25);
  EXPECT_EQ(MarginShare(MakeJudgement(MAXIMUM, 125, 100, REJECT)), -0.25);
  EXPECT_EQ(MarginShare(MakeJudgement(MINIMUM, 150, 100, ACCEPT)), 0.5);
  EXPECT_EQ(MarginShare(MakeJudgement(EXACT_VALUE, 90, 100, REJECT)), -0.1);
  EXPECT_EQ(MarginShare(MakeJudgement(MAXIMUM, -5, -10, REJECT)), -0.5);
}

TEST(DeploymentSummaryTest, ALimitComesBeforeAnExactValueThatHolds) {
  EXPECT_EQ(FindNearest({MakeJudgement(EXACT_VALUE, 5, 5, ACCEPT),
                         MakeJudgement(MAXIMUM, 1, 1000, ACCEPT)}),
            1);
  // A limit of zero has no margin either.
  EXPECT_EQ(FindNearest({MakeJudgement(MAXIMUM, 0, 0, ACCEPT),
                         MakeJudgement(MAXIMUM, 1, 1000, ACCEPT)}),
            1);
}

TEST(DeploymentSummaryTest, ARuleThatBlocksComesBeforeOneThatWarns) {
  Judgement warning = MakeJudgement(MAXIMUM, 900, 100, REJECT);
  warning.set_severity(WARN);
  Judgement record = MakeJudgement(MAXIMUM, 9000, 100, REJECT);
  record.set_severity(AUDIT);
  const Judgement holds = MakeJudgement(MAXIMUM, 100, 100, ACCEPT);
  EXPECT_EQ(FindNearest({warning, MakeJudgement(MAXIMUM, 101, 100, REJECT)}),
            1);
  EXPECT_EQ(FindNearest({holds, warning}), 1);
  EXPECT_EQ(FindNearest({record, holds}), 1);
}

TEST(DeploymentSummaryTest, MarginsSayHowMuchOfWhat) {
  const auto text = [](RuleKind rule, int64_t measured, int64_t limit,
                       Decision decision) {
    return MarginText(MakeJudgement(rule, measured, limit, decision));
  };
  EXPECT_EQ(text(MAXIMUM, 1572864, 2097152, ACCEPT), "25.0 % of 2.00 MiB");
  EXPECT_EQ(text(MAXIMUM, 2097152, 2097152, ACCEPT), "none of 2.00 MiB");
  EXPECT_EQ(text(MAXIMUM, 2097168, 2097152, REJECT), "16 B over 2.00 MiB");
  EXPECT_EQ(text(MAXIMUM, 2621440, 2097152, REJECT), "25.0 % over 2.00 MiB");
  EXPECT_EQ(text(MAXIMUM, 500000, 100, REJECT), "488 KiB over 100 B");
  EXPECT_EQ(text(MINIMUM, 75, 100, REJECT), "25.0 % under 100 B");
  EXPECT_EQ(text(EXACT_VALUE, 100, 100, ACCEPT), "exact");
  EXPECT_EQ(text(EXACT_VALUE, 99, 100, REJECT), "1.0 % under 100 B");
  EXPECT_EQ(text(MAXIMUM, 5, 0, REJECT), "5 B over 0 B");
  EXPECT_EQ(text(MAXIMUM, -5, 0, ACCEPT), "5 B of 0 B");
  EXPECT_EQ(text(BUDGET, 2202009, 2097152, ACCEPT), "5.0 % over 2.00 MiB");
  EXPECT_EQ(text(BUDGET, 1572864, 2097152, INCONCLUSIVE), "undecided");
  EXPECT_EQ(text(MAXIMUM_EXPONENT, 2, 1, REJECT), "100.0 % over 1");
  EXPECT_EQ(text(MAXIMUM_EXPONENT, 2, 2, ACCEPT), "none of 2");
  EXPECT_EQ(text(MAXIMUM, INT64_MAX, INT64_MIN, REJECT),
            "200.0 % over -8.00 EiB");
}

}  // namespace
}  // namespace footprint
