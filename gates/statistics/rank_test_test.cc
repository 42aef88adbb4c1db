#include "footprint/gates/statistics/rank_test.h"

#include <cmath>
#include <cstdint>
#include <vector>

#include "footprint/base/random/property_seeds.h"
#include "footprint/base/random/random_sequence.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

// Returns the number of pairs in which the value of `higher` is above that of
// `lower`; a tie counts half.
double ComputeU(const std::vector<double>& lower,
                const std::vector<double>& higher) {
  double u = 0;
  for (double low : lower) {
    for (double high : higher) u += high > low ? 1 : high == low ? 0.5 : 0;
  }
  return u;
}

// The naive oracle: tries every way to choose which values are `higher`.
double PValueByEnumeration(const std::vector<double>& lower,
                           const std::vector<double>& higher) {
  std::vector<double> all = lower;
  all.insert(all.end(), higher.begin(), higher.end());
  const double observed = ComputeU(lower, higher);
  int ways = 0;
  int as_high = 0;
  for (uint32_t set = 0; set < 1u << all.size(); ++set) {
    std::vector<double> outside, inside;
    for (size_t i = 0; i < all.size(); ++i) {
      ((set >> i & 1u) != 0 ? inside : outside).push_back(all[i]);
    }
    if (inside.size() != higher.size()) continue;
    ++ways;
    as_high += ComputeU(outside, inside) >= observed ? 1 : 0;
  }
  return static_cast<double>(as_high) / ways;
}

std::vector<double> Sample(RandomSequence* random, size_t count,
                           uint64_t distinct) {
  std::vector<double> values;
  for (size_t i = 0; i < count; ++i) {
    values.push_back(static_cast<double>(random->Below(distinct)));
  }
  return values;
}

TEST(RankTestTest, IsExactForSmallSamples) {
  for (uint64_t seed = 1; seed <= PropertySeedCount(); ++seed) {
    RandomSequence random(seed);
    // Few distinct values make ties.
    const uint64_t distinct = 1 + random.Below(12);
    const std::vector<double> lower =
        Sample(&random, 1 + random.Below(6), distinct);
    const std::vector<double> higher =
        Sample(&random, 1 + random.Below(6), distinct);
    EXPECT_NEAR(RankTestPValue(lower, higher),
                PValueByEnumeration(lower, higher), 1e-12)
        << "seed " << seed;
  }
}

TEST(RankTestTest, KnownValues) {
  // 1 of the 20 ways to choose 3 of 6.
  EXPECT_DOUBLE_EQ(RankTestPValue({1, 2, 3}, {4, 5, 6}), 0.05);
  EXPECT_DOUBLE_EQ(RankTestPValue({4, 5, 6}, {1, 2, 3}), 1);
  EXPECT_DOUBLE_EQ(RankTestPValue({7, 7}, {7, 7, 7}), 1);
}

TEST(RankTestTest, TheApproximationIsNearTheExactValue) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    RandomSequence random(seed);
    std::vector<double> lower = Sample(&random, 30, 50);
    std::vector<double> higher = Sample(&random, 30, 60);
    const double exact = ExactRankTestPValue(lower, higher);
    EXPECT_NEAR(ApproximateRankTestPValue(lower, higher), exact,
                0.0005 + 0.05 * exact)
        << "seed " << seed;
  }
}

TEST(RankTestTest, LargeSamplesAreApproximatedAndEqualOnesTellNothing) {
  const std::vector<double> equal(40, 7);
  EXPECT_EQ(RankTestPValue(equal, equal), 1);
  std::vector<double> higher(40, 8);
  EXPECT_LT(RankTestPValue(equal, higher), 1e-9);
  EXPECT_GT(RankTestPValue(higher, equal), 1 - 1e-9);
}

// If both samples are from one distribution, the share of P-values below a
// level is at most the level.
TEST(RankTestTest, FalseAlarmsKeepTheLevel) {
  int alarms = 0;
  constexpr int kTrials = 4000;
  RandomSequence random(7);
  for (int i = 0; i < kTrials; ++i) {
    const std::vector<double> lower = Sample(&random, 9, 30);
    const std::vector<double> higher = Sample(&random, 9, 30);
    alarms += RankTestPValue(lower, higher) <= 0.05 ? 1 : 0;
  }
  // The bound is 5 % plus three standard deviations of the count.
  EXPECT_LE(alarms, 0.05 * kTrials + 3 * 14);
  EXPECT_GE(alarms, 0.03 * kTrials);
}

// The variance of U is m n (m + n + 1) / 12 if there are no ties; two pairs of
// ties lower it by m n / 12 times 12 / (N (N - 1)).
TEST(RankTestTest, TheApproximationIsTheNormalDistributionOfU) {
  const std::vector<double> lower = {1, 2, 3, 4, 5};
  const std::vector<double> higher = {6, 7, 8, 9, 10};
  const auto tail = [](double z) { return std::erfc(z / std::sqrt(2)) / 2; };
  EXPECT_NEAR(ApproximateRankTestPValue(lower, higher),
              tail((25 - 12.5 - 0.5) / std::sqrt(275.0 / 12)), 1e-12);
  EXPECT_NEAR(ApproximateRankTestPValue({1, 1, 3, 4, 5}, {6, 7, 8, 10, 10}),
              tail((25 - 12.5 - 0.5) / std::sqrt(25.0 / 12 * (11 - 12.0 / 90))),
              1e-12);
}

}  // namespace
}  // namespace footprint
