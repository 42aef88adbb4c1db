#include "footprint/lowmem/models/exponential_sum.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace footprint {
namespace {

std::vector<float> RandomLogits(std::mt19937& random, int64_t count, float mean,
                                float deviation) {
  std::normal_distribution<float> normal(mean, deviation);
  std::vector<float> logits(count);
  for (float& x : logits) x = normal(random);
  return logits;
}

double LogOf(const std::vector<float>& logits) {
  ExponentialSum sum;
  for (const float x : logits) sum.Add(x);
  return sum.Log();
}

long double Reference(const std::vector<float>& logits) {
  const long double largest = *std::max_element(logits.begin(), logits.end());
  long double sum = 0;
  for (const float x : logits) sum += std::exp(x - largest);
  return largest + std::log(sum);
}

TEST(ExponentialSumTest, AgreesWithLongerArithmetic) {
  std::mt19937 random(1);
  for (const float mean : {-3000.0f, -40.0f, 0.0f, 30.0f, 5000.0f}) {
    for (const float deviation : {0.0f, 1.0f, 30.0f, 900.0f}) {
      const std::vector<float> logits =
          RandomLogits(random, 1000, mean, deviation);
      const auto expected = static_cast<double>(Reference(logits));
      EXPECT_NEAR(LogOf(logits), expected, 4e-15 + 4e-15 * std::fabs(expected))
          << mean << " " << deviation;
    }
  }
}

TEST(ExponentialSumTest, HasTheSameBitsInAnyOrder) {
  std::mt19937 random(2);
  for (const float deviation : {1.0f, 20.0f, 100.0f, 2000.0f}) {
    std::vector<float> logits = RandomLogits(random, 500, 0, deviation);
    const double expected = LogOf(logits);
    for (int trial = 0; trial < 50; ++trial) {
      std::shuffle(logits.begin(), logits.end(), random);
      ASSERT_EQ(LogOf(logits), expected);
      // In parts, the first of which may be empty.
      ExponentialSum parts[3];
      for (size_t i = 0; i < logits.size(); ++i) {
        parts[random() % (trial % 3 + 1)].Add(logits[i]);
      }
      ExponentialSum all = parts[2];
      all.Merge(parts[0]);
      all.Merge(parts[1]);
      ASSERT_EQ(all.Log(), expected);
    }
    std::sort(logits.begin(), logits.end());
    EXPECT_EQ(LogOf(logits), expected);
    std::reverse(logits.begin(), logits.end());
    EXPECT_EQ(LogOf(logits), expected);
  }
}

// Sums that carry over a limb's end, and powers at the limbs' ends.
TEST(ExponentialSumTest, HoldsAtTheEndsOfLimbs) {
  for (int power = -200; power <= 200; ++power) {
    const auto x = static_cast<float>(power * 0.6931471805599453);
    const std::vector<float> logits(4096, x);
    ASSERT_NEAR(LogOf(logits), x + std::log(4096.0), 1e-13) << power;
  }
}

TEST(ExponentialSumTest, TakesLargeNumbers) {
  const float largest = 0x1p49f;
  EXPECT_TRUE(ExponentialSum::Takes(largest));
  EXPECT_TRUE(ExponentialSum::Takes(-largest));
  EXPECT_FALSE(ExponentialSum::Takes(0x1p50f));
  EXPECT_FALSE(ExponentialSum::Takes(std::nanf("")));
  EXPECT_EQ(LogOf({largest, -largest}), largest);
  EXPECT_EQ(LogOf({-largest}), -largest);
  EXPECT_EQ(LogOf({0}), 0);
  EXPECT_EQ(LogOf({}), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(sizeof(ExponentialSum), 64u);
}

}  // namespace
}  // namespace footprint
