#include "footprint/trainer_manager/layers/rate_schedule.h"

#include <cmath>
#include <limits>

#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::HasSubstr;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(RateScheduleTest, ANumberIsARateThatStays) {
  const RateSchedule rate = 0.25f;
  EXPECT_EQ(rate.At(1), 0.25f);
  EXPECT_EQ(rate.At(1'000'000), 0.25f);
  EXPECT_THAT(rate.Check(), IsOk());
}

TEST(RateScheduleTest, ALineEndsWhereItSays) {
  const RateSchedule rate = LinearRate(1, 0.5f, 4);
  EXPECT_EQ(rate.At(1), 1);
  EXPECT_EQ(rate.At(3), 0.75f);
  EXPECT_EQ(rate.At(5), 0.5f);
  EXPECT_EQ(rate.At(500), 0.5f);
}

TEST(RateScheduleTest, ACosineFallsSlowlyAtBothEnds) {
  const RateSchedule rate = CosineRate(1, 0, 100);
  EXPECT_EQ(rate.At(1), 1);
  EXPECT_NEAR(rate.At(26), (1 + std::sqrt(0.5)) / 2, 1e-6);
  EXPECT_NEAR(rate.At(51), 0.5, 1e-6);
  EXPECT_NEAR(rate.At(101), 0, 1e-6);
  EXPECT_NEAR(rate.At(1000), 0, 1e-6);
}

TEST(RateScheduleTest, StepsAndPowersMultiply) {
  const RateSchedule steps = StepRate(8, 0.5f, 3);
  EXPECT_EQ(steps.At(3), 8);
  EXPECT_EQ(steps.At(4), 4);
  EXPECT_EQ(steps.At(7), 2);
  const RateSchedule powers = ExponentialRate(8, 0.5f);
  EXPECT_EQ(powers.At(1), 8);
  EXPECT_EQ(powers.At(4), 1);
}

TEST(RateScheduleTest, AWarmUpGrowsToTheFirstRate) {
  const RateSchedule rate = AfterWarmUp(4, StepRate(8, 0.5f, 1));
  EXPECT_EQ(rate.At(1), 2);
  EXPECT_EQ(rate.At(3), 6);
  EXPECT_EQ(rate.At(4), 8);
  EXPECT_EQ(rate.At(5), 8);
  EXPECT_EQ(rate.At(6), 4);
}

// Golden values of torch 1.13.1: optimizer.param_groups[0]["lr"] after each of
// three scheduler.step() of LinearLR(SGD(lr=0.3), 1, 0.1, 7),
// CosineAnnealingLR(SGD(lr=0.3), 7, 0.01), StepLR(SGD(lr=0.3), 2, 0.7) and
// ExponentialLR(SGD(lr=0.3), 0.7).
TEST(RateScheduleTest, RatesArePyTorchs) {
  const struct {
    RateSchedule rate;
    double golden[4];
  } cases[] = {
      {LinearRate(0.3f, 0.03f, 7),
       {0.3, 0.2614285714, 0.2228571429, 0.1842857143}},
      {CosineRate(0.3f, 0.01f, 7),
       {0.3, 0.2856404858, 0.2454060213, 0.1872655354}},
      {StepRate(0.3f, 0.7f, 2), {0.3, 0.3, 0.21, 0.21}},
      {ExponentialRate(0.3f, 0.7f), {0.3, 0.21, 0.147, 0.1029}},
  };
  for (const auto& each : cases) {
    for (int i = 0; i < 4; ++i) {
      EXPECT_NEAR(each.rate.At(i + 1), each.golden[i], 1e-7) << i;
    }
  }
}

TEST(RateScheduleTest, EachRateIsMultiplied) {
  for (const RateSchedule& rate :
       {RateSchedule(0.5f), LinearRate(0.5f, 0.25f, 7),
        CosineRate(0.5f, 0.1f, 7), StepRate(0.5f, 0.5f, 2),
        ExponentialRate(0.5f, 0.75f),
        AfterWarmUp(3, LinearRate(0.5f, 0.25f, 7))}) {
    const RateSchedule quarter = rate.Times(0.25);
    EXPECT_EQ(quarter.is_constant(), rate.is_constant());
    for (int64_t i = 1; i < 12; ++i) {
      EXPECT_EQ(quarter.At(i), 0.25f * rate.At(i)) << i;
    }
  }
}

TEST(RateScheduleTest, EachKindIsDescribed) {
  EXPECT_EQ(RateSchedule(0.5f).Description(), "0.5");
  EXPECT_EQ(RateSchedule(0.1f).Description(), "0.100000001");
  EXPECT_EQ(LinearRate(0.5f, 0.25f, 7).Description(),
            "on a line from 0.5 to 0.25 in 7 iterations");
  EXPECT_EQ(CosineRate(0.5f, 0, 7).Description(),
            "along a cosine from 0.5 to 0 in 7 iterations");
  EXPECT_EQ(StepRate(0.5f, 0.25f, 2).Description(),
            "0.5 times 0.25 each 2 iterations");
  EXPECT_EQ(ExponentialRate(0.5f, 0.75f).Description(),
            "0.5 times 0.75 each iteration");
  EXPECT_EQ(AfterWarmUp(3, 0.5f).Description(), "0.5 after a warm-up of 3");
}

TEST(RateScheduleTest, WhatMakesNoScheduleIsNamed) {
  EXPECT_THAT(RateSchedule(-1).Check().message(), HasSubstr("rate is -1"));
  EXPECT_THAT(LinearRate(1, kInfinity, 5).Check().message(),
              HasSubstr("last rate is inf"));
  EXPECT_THAT(StepRate(1, std::nanf(""), 5).Check().message(),
              HasSubstr("factor of the rate is nan"));
  EXPECT_THAT(CosineRate(1, 0, 0).Check().message(),
              HasSubstr("has 0 iterations"));
  EXPECT_THAT(AfterWarmUp(0, 1).Check().message(), HasSubstr("the warm-up"));
}

}  // namespace
}  // namespace footprint
