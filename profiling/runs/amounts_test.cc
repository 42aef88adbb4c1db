#include "footprint/profiling/runs/amounts.h"

#include <cstdint>
#include <limits>

#include "gtest/gtest.h"

namespace footprint {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

Amount Of(int64_t bytes, int64_t count, double variance) {
  Amount amount;
  amount.set_bytes(bytes);
  amount.set_count(count);
  amount.set_variance(variance);
  return amount;
}

TEST(SaturatedSumTest, IsTheSumWhereOneHoldsIt) {
  EXPECT_EQ(SaturatedSum(3, -5), -2);
  EXPECT_EQ(SaturatedSum(kMost - 1, 1), kMost);
  EXPECT_EQ(SaturatedDifference(3, -5), 8);
  EXPECT_EQ(SaturatedDifference(kLeast + 1, 1), kLeast);
}

TEST(SaturatedSumTest, StaysAtTheEndThatItPasses) {
  EXPECT_EQ(SaturatedSum(kMost, 1), kMost);
  EXPECT_EQ(SaturatedSum(kLeast, -1), kLeast);
  EXPECT_EQ(SaturatedDifference(kLeast, 1), kLeast);
  EXPECT_EQ(SaturatedDifference(kMost, -1), kMost);
  EXPECT_EQ(SaturatedDifference(0, kLeast), kMost);
}

TEST(AmountTest, BytesCountsAndVariancesAddUp) {
  Amount sum = Of(100, 2, 9);
  AddTo(Of(28, 1, 16), &sum);
  EXPECT_EQ(sum.bytes(), 128);
  EXPECT_EQ(sum.count(), 3);
  EXPECT_EQ(SigmaBytes(sum), 5);
}

TEST(AmountTest, AnExactAmountHasNoSigma) {
  EXPECT_EQ(SigmaBytes(Of(100, 2, 0)), 0);
}

TEST(AmountTest, ASumThatNoneHoldsIsTheLargest) {
  Amount sum = Of(kMost, kMost, 0);
  AddTo(Of(1, 1, 0), &sum);
  EXPECT_EQ(sum.bytes(), kMost);
  EXPECT_EQ(sum.count(), kMost);
}

}  // namespace
}  // namespace footprint
