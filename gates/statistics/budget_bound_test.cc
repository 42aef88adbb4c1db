#include "footprint/gates/statistics/budget_bound.h"

#include <cmath>
#include <cstdint>

#include "footprint/base/random/property_seeds.h"
#include "footprint/base/random/random_sequence.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

// Returns the probability of exactly `count` of `runs`, each with the
// probability `share`.
double Probability(int64_t runs, int64_t count, double share) {
  double ways = 1;
  for (int64_t i = 0; i < count; ++i) {
    ways *= static_cast<double>(runs - i) / static_cast<double>(count - i);
  }
  return ways * std::pow(share, static_cast<double>(count)) *
         std::pow(1 - share, static_cast<double>(runs - count));
}

TEST(BudgetBoundTest, ConfidencesAreSumsOfBinomialProbabilities) {
  for (uint64_t seed = 1; seed <= PropertySeedCount(); ++seed) {
    RandomSequence random(seed);
    const auto runs = static_cast<int64_t>(1 + random.Below(100));
    const auto exceeding =
        static_cast<int64_t>(random.Below(static_cast<uint64_t>(runs) + 1));
    const double share = 0.5 + 0.499 * random.Uniform();
    double fewer_fit = 0;
    for (int64_t fit = 0; fit < runs - exceeding; ++fit) {
      fewer_fit += Probability(runs, fit, share);
    }
    double more_misfits = 0;
    for (int64_t misfits = exceeding; misfits <= runs; ++misfits) {
      more_misfits += Probability(runs, misfits, 1 - share);
    }
    EXPECT_NEAR(FitConfidence(runs, exceeding, share), fewer_fit, 1e-9);
    EXPECT_NEAR(MisfitPValue(runs, exceeding, share), more_misfits, 1e-9);
  }
}

// Wilks's numbers, for no exceeding runs.
TEST(BudgetBoundTest, RunsThatAClaimNeeds) {
  EXPECT_EQ(RunsForConfidence(0, 0.9, 0.95), 29);
  EXPECT_EQ(RunsForConfidence(0, 0.95, 0.95), 59);
  EXPECT_EQ(RunsForConfidence(0, 0.99, 0.95), 299);
  EXPECT_EQ(RunsForConfidence(0, 0.999, 0.95), 2995);
  EXPECT_EQ(RunsForConfidence(1, 0.95, 0.95), 93);
  // 1 - 0.5^3 is exactly the confidence, which is enough.
  EXPECT_EQ(RunsForConfidence(0, 0.5, 0.875), 3);
}

TEST(BudgetBoundTest, TheFewestRunsAreEnoughAndOneLessIsNot) {
  for (uint64_t seed = 1; seed <= PropertySeedCount(); ++seed) {
    RandomSequence random(seed);
    const auto exceeding = static_cast<int64_t>(random.Below(5));
    const double share = 0.5 + 0.49 * random.Uniform();
    const double confidence = 0.5 + 0.49 * random.Uniform();
    const int64_t runs = RunsForConfidence(exceeding, share, confidence);
    EXPECT_GE(FitConfidence(runs, exceeding, share), confidence);
    EXPECT_LT(FitConfidence(runs - 1, exceeding, share), confidence);
  }
}

TEST(BudgetBoundTest, AcceptsRejectsOrSaysHowManyMore) {
  const BudgetRule rule = {0.95, 0.95};
  EXPECT_EQ(JudgeBudget({59, 0}, rule).kind, SampleDecision::kAccept);
  EXPECT_EQ(JudgeBudget({9, 9}, rule).kind, SampleDecision::kReject);
  EXPECT_EQ(JudgeBudget({9, 4}, rule).kind, SampleDecision::kReject);
  const SampleDecision few = JudgeBudget({9, 0}, rule);
  EXPECT_EQ(few.kind, SampleDecision::kInconclusive);
  EXPECT_EQ(few.more_runs, 50);
  EXPECT_EQ(few.reason,
            "0 of 9 runs exceed it, which does not show that 95 % of all runs "
            "keep it, at a confidence of 95 %; 50 more that keep it would, at "
            "least");
  EXPECT_EQ(JudgeBudget({58, 0}, rule).more_runs, 1);
  EXPECT_EQ(JudgeBudget({59, 1}, rule).more_runs, 93 - 59);
  EXPECT_EQ(JudgeBudget({0, 0}, rule).more_runs, 59);
}

TEST(BudgetBoundTest, ExactlyTheConfidenceIsEnough) {
  EXPECT_EQ(JudgeBudget({2, 0}, {0.5, 0.75}).kind, SampleDecision::kAccept);
  EXPECT_EQ(JudgeBudget({2, 0}, {0.5, 0.76}).kind,
            SampleDecision::kInconclusive);
}

// The looks at 9 and 30 runs may err too, so the last one may err less often. A
// single look would accept 6 of 59, and reject 23.
TEST(BudgetBoundTest, ALateLookPaysForTheEarlyOnes) {
  const BudgetRule rule = {0.8, 0.95};
  EXPECT_EQ(JudgeBudget({59, 4}, rule).kind, SampleDecision::kAccept);
  EXPECT_EQ(JudgeBudget({59, 5}, rule).kind, SampleDecision::kInconclusive);
  EXPECT_EQ(JudgeBudget({59, 23}, rule).kind, SampleDecision::kInconclusive);
  EXPECT_EQ(JudgeBudget({59, 24}, rule).kind, SampleDecision::kReject);
}

// Returns the decision on a random sequence of runs of which the share `fit`
// fits.
SampleDecision::Kind Follow(RandomSequence* random, double fit,
                            const BudgetRule& rule) {
  FittingRuns runs;
  SampleDecision::Kind kind = SampleDecision::kInconclusive;
  for (int64_t look : kSampleSchedule) {
    for (; runs.run_count < look; ++runs.run_count) {
      runs.exceeding += random->Uniform() < fit ? 0 : 1;
    }
    kind = JudgeBudget(runs, rule).kind;
    if (kind != SampleDecision::kInconclusive) break;
  }
  return kind;
}

TEST(BudgetBoundTest, AllLooksTogetherKeepTheErrors) {
  constexpr int kTrials = 3000;
  for (const BudgetRule& rule :
       {BudgetRule{0.9, 0.95}, BudgetRule{0.95, 0.95}, BudgetRule{0.8, 0.9}}) {
    RandomSequence random(11);
    int accepted = 0;
    int rejected = 0;
    for (int i = 0; i < kTrials; ++i) {
      const SampleDecision::Kind kind = Follow(&random, rule.share, rule);
      accepted += kind == SampleDecision::kAccept ? 1 : 0;
      rejected += kind == SampleDecision::kReject ? 1 : 0;
    }
    const double most = (1 - rule.confidence) * kTrials;
    EXPECT_LE(accepted, most + 3 * std::sqrt(most)) << rule.share;
    EXPECT_GT(accepted, 0.4 * most) << rule.share;
    EXPECT_LE(rejected, 3 + 3 * std::sqrt(3)) << rule.share;
  }
}

TEST(BudgetBoundTest, WhatAlwaysFitsIsAcceptedAndTheContraryRejected) {
  RandomSequence random(3);
  EXPECT_EQ(Follow(&random, 1, {0.95, 0.95}), SampleDecision::kAccept);
  EXPECT_EQ(Follow(&random, 1, {0.9, 0.95}), SampleDecision::kAccept);
  EXPECT_EQ(Follow(&random, 0, {0.95, 0.95}), SampleDecision::kReject);
}

}  // namespace
}  // namespace footprint
