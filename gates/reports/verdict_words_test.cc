#include "footprint/gates/reports/verdict_words.h"

#include <cstdint>
#include <string>

#include "footprint/gates/reports/example_verdict.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;

TEST(VerdictWordsTest, MarginsSayWhichWay) {
  Verdict verdict = ExampleVerdict();
  Judgement* const judgement = verdict.mutable_judgements(0);
  const auto margin = [&](RuleKind rule, int64_t measured, int64_t limit,
                          Decision decision) {
    judgement->set_rule(rule);
    judgement->set_measured(measured);
    judgement->set_limit(limit);
    judgement->set_decision(decision);
    return MakeJudgementRow(*judgement)[4];
  };
  EXPECT_EQ(margin(MAXIMUM, 5, 5, ACCEPT), "none left");
  EXPECT_EQ(margin(MAXIMUM, 5, 0, REJECT), "5 B over");
  EXPECT_EQ(margin(MAXIMUM, -5, 0, ACCEPT), "5 B left");
  EXPECT_EQ(margin(EXACT_VALUE, 5, 5, ACCEPT), "exact");
  EXPECT_EQ(margin(EXACT_VALUE, 4, 5, REJECT), "1 B under");
  EXPECT_EQ(margin(MINIMUM, 6, 5, ACCEPT), "1 B left (20.0 %)");
  EXPECT_THAT(margin(MAXIMUM, INT64_MAX, INT64_MIN, REJECT),
              HasSubstr("8.00 EiB over"));
}

TEST(VerdictWordsTest, ALimitOnAMetricThatIsNotExactNamesItsClass) {
  Verdict verdict = ExampleVerdict();
  Judgement* const judgement = verdict.mutable_judgements(0);
  judgement->set_determinism(EXACT);
  EXPECT_EQ(MakeJudgementRow(*judgement)[3], "max 2.00 MiB (2,097,152 B)");
  judgement->set_determinism(BOUNDED);
  EXPECT_EQ(MakeJudgementRow(*judgement)[3],
            "max 2.00 MiB (2,097,152 B) of BOUNDED");
  EXPECT_THAT(DescribeViolation(*judgement), HasSubstr("of BOUNDED"));
}

TEST(VerdictWordsTest, RulesOverSamplesAndLawsSayWhatTheyRestOn) {
  Judgement judgement;
  judgement.set_label("//a:b");
  judgement.set_benchmark("BM_X");
  judgement.set_metric(PEAK_RESIDENT_BYTES);
  judgement.set_rule(BUDGET);
  judgement.set_determinism(STATISTICAL);
  judgement.set_measured(101);
  judgement.set_limit(100);
  judgement.set_decision(REJECT);
  judgement.set_threshold_location("t:1");
  judgement.set_explanation("9 of 9 runs exceed it");
  EXPECT_EQ(DescribeViolation(judgement),
            "//a:b BM_X: peak resident is 101 B, limit budget 100 B, 1 B over "
            "(t:1): 9 of 9 runs exceed it");
  judgement.set_rule(MAXIMUM_EXPONENT);
  judgement.set_determinism(EXACT);
  judgement.set_measured(2);
  judgement.set_limit(1);
  judgement.clear_explanation();
  EXPECT_EQ(DescribeViolation(judgement),
            "//a:b BM_X: peak resident is 2, limit max exponent 1, 1 over "
            "(t:1)");
}

TEST(VerdictWordsTest, TheSummaryCounts) {
  EXPECT_EQ(SummaryLine(ExampleVerdict()),
            "REJECT 2 deployments, 2 benchmarks, 3 rules, 1 rejected, "
            "1 warned, 1 problem");
  EXPECT_EQ(SummaryLine(Verdict()),
            "ACCEPT 0 deployments, 0 benchmarks, 0 rules");
}

TEST(VerdictWordsTest, EveryOutcomeHasItsWord) {
  Verdict verdict = ExampleVerdict();
  EXPECT_EQ(MakeJudgementRow(verdict.judgements(0))[5], "accept");
  EXPECT_EQ(MakeJudgementRow(verdict.judgements(1))[5], "REJECT");
  EXPECT_EQ(MakeJudgementRow(verdict.judgements(2))[5], "WARN");
  verdict.mutable_judgements(2)->set_severity(AUDIT);
  EXPECT_EQ(MakeJudgementRow(verdict.judgements(2))[5], "audit");
  EXPECT_EQ(WordOfProblem(verdict.problems(0)), "PRODUCER_FAILED");
  verdict.mutable_problems(0)->set_decision(ACCEPT);
  EXPECT_EQ(WordOfProblem(verdict.problems(0)), "NOT JUDGED");
}

TEST(VerdictWordsTest, WhereNoCommandAcceptsNoneIsAskedFor) {
  Judgement judgement;
  EXPECT_EQ(HowToAccept(judgement), "");
  judgement.set_command_to_accept("bazel run //gates:update");
  EXPECT_EQ(HowToAccept(judgement), "accept it with: bazel run //gates:update");
}

}  // namespace
}  // namespace footprint
