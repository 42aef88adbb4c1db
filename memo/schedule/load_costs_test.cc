#include "footprint/memo/schedule/load_costs.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint::memo_internal {
namespace {

using testing::ElementsAre;

constexpr int64_t kMillisecond = 1'000'000;

std::vector<int64_t> ComputeCosts(
    const std::vector<int64_t>& load_nanoseconds) {
  std::vector<PlannedValue> values(load_nanoseconds.size());
  std::vector<int64_t> costs;
  SetLoadCosts(load_nanoseconds, &values);
  for (const PlannedValue& value : values) costs.push_back(value.load_cost);
  return costs;
}

TEST(LoadCostsTest, AreMicroseconds) {
  EXPECT_THAT(ComputeCosts({50 * kMillisecond, 2 * kMillisecond}),
              ElementsAre(50'000, 2'000));
}

TEST(LoadCostsTest, TimesThatAreAlikeCostTheSame) {
  EXPECT_THAT(
      ComputeCosts({10 * kMillisecond, 40 * kMillisecond, 14 * kMillisecond,
                    15 * kMillisecond, 59 * kMillisecond}),
      ElementsAre(12'000, 49'500, 12'000, 15'000, 49'500));
}

// Half of an odd time is rounded up: 226 is below one and a half times 151.
TEST(LoadCostsTest, HalfAsLongAgainIsNotAlike) {
  constexpr int64_t kMicrosecond = 1000;
  EXPECT_THAT(ComputeCosts({151 * kMicrosecond, 226 * kMicrosecond}),
              ElementsAre(188, 188));
  EXPECT_THAT(ComputeCosts({151 * kMicrosecond, 227 * kMicrosecond}),
              ElementsAre(151, 227));
}

TEST(LoadCostsTest, ShortTimesAreNoise) {
  EXPECT_THAT(ComputeCosts({1, 90'000, 20 * kMillisecond}),
              ElementsAre(100, 100, 20'000));
}

TEST(LoadCostsTest, WithoutEveryTimeALoadIsALoad) {
  std::vector<PlannedValue> values(2);
  EXPECT_FALSE(SetLoadCosts({5 * kMillisecond, 0}, &values));
  EXPECT_EQ(values[0].load_cost, 1);
  EXPECT_TRUE(SetLoadCosts({5 * kMillisecond, 5 * kMillisecond}, &values));
  EXPECT_EQ(values[0].load_cost, 5'000);
}

TEST(LoadCostsTest, AnEndlessLoadStillAddsUp) {
  EXPECT_THAT(ComputeCosts({INT64_MAX}), ElementsAre(86'400'000'000));
}

}  // namespace
}  // namespace footprint::memo_internal
