#include "footprint/gates/regressions/regression_plan.h"

#include <cstdint>
#include <string>
#include <vector>

#include "footprint/base/random/random_sequence.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

// A loop that makes a block of 64 bytes and frees it, then holds 100 (of 112)
// and 4096 at its peak, and maps a page.
AllocationRecord LoopRecord() {
  AllocationRecord record;
  record.blocks = {{64, 64, 2, 3, false},
                   {100, 112, 4, 9, false},
                   {4096, 4096, 5, 8, false}};
  record.mappings = {{4096, 4096, 6, 7, false}};
  RecordedVisit loop;
  loop.phase = "loop";
  loop.begin = 0;
  loop.end = 10;
  loop.call_count = 3;
  loop.mapping_count = 1;
  loop.peak = 5;
  loop.peak_bytes = 4208;
  loop.mapped_peak = 6;
  loop.mapped_peak_bytes = 4096;
  record.visits = {loop};
  record.peak = 5;
  return record;
}

BenchmarkMemory Benchmark() {
  BenchmarkMemory benchmark;
  benchmark.set_name("BM_Fit/rows:40");
  Argument* const argument = benchmark.add_arguments();
  argument->set_name("rows");
  argument->set_value("40");
  return benchmark;
}

JudgedFigure Figure(MetricKind metric, int64_t measured, int64_t room) {
  return {"//a:b", "BM_Fit/rows:40", "", metric, measured, room};
}

absl::optional<PlannedRegression> Plan(RegressionSort sort,
                                       const JudgedFigure& figure,
                                       uint64_t seed = 1) {
  RandomSequence random(seed);
  return PlanRegression(sort, figure, Benchmark(), LoopRecord(), &random);
}

TEST(RegressionPlanTest, AByteGoesToABlockThatIsFullAndAliveAtThePeak) {
  const auto planned = Plan(RegressionSort::kOneMoreByte,
                            Figure(PEAK_LIVE_USABLE_BYTES, 4208, 0));
  ASSERT_TRUE(planned.has_value());
  EXPECT_EQ(planned->planted.kind, RegressionKind::kLargerBlock);
  EXPECT_EQ(planned->planted.call, 2);
  EXPECT_EQ(planned->planted.bytes, 1);
  EXPECT_EQ(planned->expected_growth, 1024);
  EXPECT_STREQ(planned->planted.phase, "loop");
}

TEST(RegressionPlanTest, WhatALimitLeavesIsAddedToTheByte) {
  const auto planned = Plan(RegressionSort::kOneMoreByte,
                            Figure(PEAK_LIVE_USABLE_BYTES, 4208, 5000));
  ASSERT_TRUE(planned.has_value());
  EXPECT_GT(planned->planted.bytes, 5000);
  EXPECT_GT(planned->expected_growth, 5000);
}

TEST(RegressionPlanTest, EverySortGrowsTheFigureByMoreThanIsLeft) {
  for (const int64_t room : {0, 1, 20, 100}) {
    for (uint64_t seed = 1; seed <= 50; ++seed) {
      for (const RegressionSortName& sort : kRegressionSorts) {
        for (const MetricKind metric :
             {PEAK_LIVE_USABLE_BYTES, PEAK_LIVE_ABSOLUTE_USABLE_BYTES,
              SUM_THREAD_PEAK_USABLE_BYTES, ALLOCATED_USABLE_BYTES,
              NET_GROWTH_USABLE_BYTES, ALLOCATION_COUNT, PEAK_MAPPED_BYTES}) {
          const auto planned =
              Plan(sort.sort, Figure(metric, 4208, room), seed);
          if (!planned.has_value()) continue;
          EXPECT_GT(planned->expected_growth, room) << sort.name;
          EXPECT_LT(planned->planted.call, 3) << sort.name;
        }
      }
    }
  }
}

TEST(RegressionPlanTest, OnlyABlockThatIsGoneAtThePeakIsFreedLater) {
  const auto planned = Plan(RegressionSort::kFreedLater,
                            Figure(PEAK_LIVE_USABLE_BYTES, 4208, 0));
  ASSERT_TRUE(planned.has_value());
  EXPECT_EQ(planned->planted.call, 0);
  EXPECT_EQ(planned->expected_growth, 64);
  EXPECT_FALSE(Plan(RegressionSort::kFreedLater,
                    Figure(PEAK_LIVE_USABLE_BYTES, 4208, 64))
                   .has_value());
}

TEST(RegressionPlanTest, ALeakIsSpreadOverTheCallsUntilThePeak) {
  const auto planned = Plan(RegressionSort::kLeakPerStep,
                            Figure(PEAK_LIVE_USABLE_BYTES, 4208, 0));
  ASSERT_TRUE(planned.has_value());
  EXPECT_EQ(planned->planted.count, 3);
  EXPECT_EQ(planned->planted.stride, 1);
}

TEST(RegressionPlanTest, GrowthIsAMultipleOfTheArgument) {
  const auto planned = Plan(RegressionSort::kGrowthWithArgument,
                            Figure(PEAK_LIVE_USABLE_BYTES, 4208, 0));
  ASSERT_TRUE(planned.has_value());
  EXPECT_EQ(planned->planted.bytes % 40, 0);
  RandomSequence random(1);
  EXPECT_FALSE(PlanRegression(RegressionSort::kGrowthWithArgument,
                              Figure(PEAK_LIVE_USABLE_BYTES, 4208, 0),
                              BenchmarkMemory(), LoopRecord(), &random)
                   .has_value());
}

TEST(RegressionPlanTest, AMetricIsLeftAloneBySortsThatDoNotMoveIt) {
  EXPECT_FALSE(
      Plan(RegressionSort::kOneMoreByte, Figure(PEAK_MAPPED_BYTES, 4096, 0))
          .has_value());
  EXPECT_FALSE(
      Plan(RegressionSort::kMoreVolume, Figure(PEAK_LIVE_USABLE_BYTES, 4208, 0))
          .has_value());
  EXPECT_FALSE(
      Plan(RegressionSort::kLargerElement, Figure(ALLOCATION_COUNT, 3, 0))
          .has_value());
  EXPECT_FALSE(Plan(RegressionSort::kKeptCopy, Figure(ALLOCATION_COUNT, 3, 0))
                   .has_value());
  EXPECT_TRUE(
      Plan(RegressionSort::kKeptCopy, Figure(NET_GROWTH_USABLE_BYTES, 0, 0))
          .has_value());
}

TEST(RegressionPlanTest, WhereCallsWereNotSeenNothingRestsOnTheirOrder) {
  // Another thread has 1,000 bytes more.
  const JudgedFigure figure = Figure(PEAK_LIVE_USABLE_BYTES, 5208, 0);
  for (const RegressionSort sort :
       {RegressionSort::kOneMoreByte, RegressionSort::kFreedLater,
        RegressionSort::kKeptCopy, RegressionSort::kLeakPerStep,
        RegressionSort::kLargerElement}) {
    EXPECT_FALSE(Plan(sort, figure).has_value());
  }
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const auto planned = Plan(RegressionSort::kSmallBlock, figure, seed);
    ASSERT_TRUE(planned.has_value());
    EXPECT_EQ(planned->planted.call, -1);
  }
}

TEST(RegressionPlanTest, APhaseThatNeverCameHasNoPlace) {
  JudgedFigure figure = Figure(PEAK_LIVE_USABLE_BYTES, 4208, 0);
  figure.phase = "loop/load";
  for (const RegressionSortName& sort : kRegressionSorts) {
    EXPECT_FALSE(Plan(sort.sort, figure).has_value()) << sort.name;
  }
}

TEST(RegressionPlanTest, SizesAreRoundedToTheAllocatorsClasses) {
  const std::vector<std::pair<int64_t, int64_t>> expected = {
      {0, 8},       {1, 8},
      {8, 8},       {9, 16},
      {112, 112},   {113, 128},
      {128, 128},   {129, 160},
      {256, 256},   {257, 320},
      {1024, 1024}, {1025, 1280},
      {4097, 5120}, {8388609, 10485760}};
  for (const auto& [requested, usable] : expected) {
    EXPECT_EQ(UsableBytes(requested), usable) << requested;
  }
}

// A verdict's judgement of one figure.
Judgement Judge(RuleKind rule, int64_t limit) {
  Judgement judgement;
  judgement.set_label("//a:b");
  judgement.set_benchmark("BM_Fit");
  judgement.set_metric(PEAK_LIVE_USABLE_BYTES);
  judgement.set_measured(100);
  judgement.set_limit(limit);
  judgement.set_rule(rule);
  judgement.set_severity(BLOCK);
  judgement.set_decision(ACCEPT);
  judgement.set_determinism(EXACT);
  return judgement;
}

TEST(RegressionPlanTest, TheTightestLimitFromAboveSaysWhatIsLeft) {
  Verdict verdict;
  *verdict.add_judgements() = Judge(MAXIMUM, 130);
  *verdict.add_judgements() = Judge(MAXIMUM_RATIO, 110);
  *verdict.add_judgements() = Judge(MAXIMUM, 120);
  *verdict.add_judgements() = Judge(MINIMUM, 100);
  const std::vector<JudgedFigure> figures = JudgedFigures(verdict);
  ASSERT_EQ(figures.size(), 1u);
  EXPECT_EQ(figures[0].room, 10);
}

TEST(RegressionPlanTest, WhatDoesNotBlockOrRepeatPromisesNothing) {
  Verdict verdict;
  *verdict.add_judgements() = Judge(MINIMUM, 90);
  Judgement warning = Judge(MAXIMUM, 130);
  warning.set_severity(WARN);
  *verdict.add_judgements() = warning;
  Judgement varying = Judge(MAXIMUM, 130);
  varying.set_determinism(STATISTICAL);
  *verdict.add_judgements() = varying;
  EXPECT_TRUE(JudgedFigures(verdict).empty());
}

}  // namespace
}  // namespace footprint
