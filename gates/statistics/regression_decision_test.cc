#include "footprint/gates/statistics/regression_decision.h"

#include <cstdint>
#include <vector>

#include "footprint/base/random/random_sequence.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;

constexpr RegressionRule kRule = {0.005, 0.02};

std::vector<double> Runs(RandomSequence* random, size_t count, double median,
                         double deviation) {
  std::vector<double> runs;
  for (size_t i = 0; i < count; ++i) {
    runs.push_back(median * (1 + deviation * random->Normal()));
  }
  return runs;
}

// Adds runs look by look until there is a decision.
SampleDecision::Kind Follow(RandomSequence* random, double change,
                            double deviation) {
  const std::vector<double> baseline = Runs(random, 30, 1e6, deviation);
  std::vector<double> current;
  SampleDecision decision;
  for (int64_t look : kSampleSchedule) {
    const std::vector<double> more =
        Runs(random, static_cast<size_t>(look) - current.size(),
             1e6 * (1 + change), deviation);
    current.insert(current.end(), more.begin(), more.end());
    decision = JudgeRegression(baseline, current, kRule);
    if (decision.kind != SampleDecision::kInconclusive) break;
  }
  return decision.kind;
}

int CountDecisions(SampleDecision::Kind kind, int trials, double change,
                   double deviation) {
  RandomSequence random(5);
  int count = 0;
  for (int i = 0; i < trials; ++i) {
    count += Follow(&random, change, deviation) == kind ? 1 : 0;
  }
  return count;
}

TEST(RegressionDecisionTest, MedianIsTheMiddle) {
  EXPECT_EQ(ComputeMedian({3}), 3);
  EXPECT_EQ(ComputeMedian({9, 1, 5}), 5);
  EXPECT_EQ(ComputeMedian({4, 1, 2, 8}), 3);
}

TEST(RegressionDecisionTest, FiguresThatDoNotVaryAreDecidedAtOnce) {
  const std::vector<double> baseline(9, 1000);
  EXPECT_EQ(JudgeRegression(baseline, baseline, kRule).kind,
            SampleDecision::kAccept);
  EXPECT_EQ(JudgeRegression(baseline, std::vector<double>(9, 1006), kRule).kind,
            SampleDecision::kReject);
  // The growth is certain, but within the tolerance.
  EXPECT_EQ(JudgeRegression(baseline, std::vector<double>(9, 1004), kRule).kind,
            SampleDecision::kAccept);
  EXPECT_EQ(JudgeRegression(baseline, std::vector<double>(9, 500), kRule).kind,
            SampleDecision::kAccept);
}

TEST(RegressionDecisionTest, FewRunsAreInconclusiveAndSayHowManyMore) {
  const std::vector<double> baseline(9, 1000);
  const SampleDecision few =
      JudgeRegression(baseline, std::vector<double>(3, 2000), kRule);
  EXPECT_EQ(few.kind, SampleDecision::kInconclusive);
  EXPECT_EQ(few.more_runs, 6);
  EXPECT_THAT(few.reason, HasSubstr("there are 3 runs, and at least 9"));
  EXPECT_THAT(
      JudgeRegression(std::vector<double>(8, 1), baseline, kRule).reason,
      HasSubstr("the baseline has 8 values"));
  EXPECT_EQ(JudgeRegression(baseline, {}, kRule).more_runs, 9);
}

TEST(RegressionDecisionTest, NoiseThatHidesTheChangeIsInconclusive) {
  RandomSequence random(2);
  const std::vector<double> baseline = Runs(&random, 30, 1e6, 0.1);
  const std::vector<double> current = Runs(&random, 30, 1e6, 0.1);
  const SampleDecision decision = JudgeRegression(baseline, current, kRule);
  EXPECT_EQ(decision.kind, SampleDecision::kInconclusive);
  EXPECT_EQ(decision.more_runs, 29);
  EXPECT_THAT(decision.reason, HasSubstr("29 more runs might tell"));
  const std::vector<double> most = Runs(&random, 59, 1e6, 0.1);
  EXPECT_GT(JudgeRegression(baseline, most, kRule).more_runs, 59);
}

TEST(RegressionDecisionTest, AnUnchangedProgramIsAcceptedSeldomRejected) {
  EXPECT_LE(CountDecisions(SampleDecision::kReject, 300, 0, 0.013), 2);
  EXPECT_GE(CountDecisions(SampleDecision::kAccept, 300, 0, 0.013), 295);
}

TEST(RegressionDecisionTest, AGrowthByTheDetectableIsSeen) {
  EXPECT_GE(CountDecisions(SampleDecision::kReject, 200, 0.02, 0.013), 195);
  EXPECT_EQ(CountDecisions(SampleDecision::kAccept, 200, 0.05, 0.013), 0);
  // A program that is too noisy for 59 runs is seldom accepted all the same.
  EXPECT_LE(CountDecisions(SampleDecision::kAccept, 200, 0.02, 0.04), 6);
}

}  // namespace
}  // namespace footprint
