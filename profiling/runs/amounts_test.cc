// Tests what amounts.h promises.

#include "footprint/profiling/runs/amounts.h"

#include <cmath>
#include <cstdint>
#include <limits>

#include "footprint/base/random/random_sequence.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

Amount MakeAmount(int64_t bytes, int64_t count, double variance) {
  Amount amount;
  amount.set_bytes(bytes);
  amount.set_count(count);
  amount.set_variance(variance);
  return amount;
}

TEST(AmountsTest, SumsAndDifferencesEndAtTheEdges) {
  EXPECT_EQ(SaturatedSum(3, 4), 7);
  EXPECT_EQ(SaturatedSum(kMost, 1), kMost);
  EXPECT_EQ(SaturatedSum(kLeast, -1), kLeast);
  EXPECT_EQ(SaturatedDifference(3, 4), -1);
  EXPECT_EQ(SaturatedDifference(kLeast, 1), kLeast);
  EXPECT_EQ(SaturatedDifference(kMost, -1), kMost);
  EXPECT_EQ(SaturatedDifference(0, kLeast), kMost);
}

TEST(AmountsTest, EachFigureAddsUp) {
  Amount sum = MakeAmount(10, 2, 4);
  AddTo(MakeAmount(7, 1, 0.5), &sum);
  EXPECT_EQ(sum.bytes(), 17);
  EXPECT_EQ(sum.count(), 3);
  EXPECT_EQ(sum.variance(), 4.5);
}

TEST(AmountsTest, ExactFiguresHaveNoSigma) {
  EXPECT_EQ(SigmaBytes(MakeAmount(1000, 1, 0)), 0);
  EXPECT_EQ(SigmaBytes(MakeAmount(0, 0, 0)), 0);
}

// n sampled blocks of a byte each stand for all blocks of their kind.
TEST(AmountsTest, OfRareBlocksTheSigmaKnowsHowFewThereAre) {
  for (const int n : {1, 2, 10, 1000}) {
    EXPECT_DOUBLE_EQ(SigmaBytes(n, n), std::sqrt(n + 2.0)) << n;
  }
}

// Such figures come from a damaged record, or from rounded sums.
TEST(AmountsTest, NoFigureMakesTheSigmaMoreThanTheVarianceAllows) {
  EXPECT_DOUBLE_EQ(SigmaBytes(0, 16), std::sqrt(48.0));
  EXPECT_DOUBLE_EQ(SigmaBytes(1, 16), std::sqrt(48.0));
  EXPECT_DOUBLE_EQ(SigmaBytes(-4, 16), std::sqrt(48.0));
  EXPECT_TRUE(std::isfinite(SigmaBytes(kLeast, 1e30)));
}

// Returns the probability that the true bytes of many small blocks lie within
// two sigma of their estimate, if that many of them are sampled on average. It
// sums Poisson's probabilities, without chance. Blocks without a sample have no
// row, so they do not count.
template <typename Sigma>
double ShareWithin(double mean_count, Sigma sigma) {
  double share = 0;
  double probability = std::exp(-mean_count);
  for (int n = 1; n < mean_count + 12 * std::sqrt(mean_count) + 30; ++n) {
    probability *= mean_count / n;
    if (std::abs(n - mean_count) <= 2 * sigma(n)) share += probability;
  }
  return share;
}

double MeanShareWithin(double (*sigma)(int)) {
  double sum = 0;
  int count = 0;
  for (double mean_count = 4; mean_count <= 50; mean_count += 0.01) {
    sum += ShareWithin(mean_count, sigma);
    ++count;
  }
  return sum / count;
}

TEST(AmountsTest, TwoSigmaHold95OfARowsTrueValues) {
  const double share = MeanShareWithin([](int n) { return SigmaBytes(n, n); });
  EXPECT_GE(share, 0.95);
  EXPECT_LE(share, 0.97) << "no wider than need be";
  EXPECT_LT(MeanShareWithin([](int n) { return std::sqrt(double{1} * n); }),
            0.945)
      << "which the samples' variance alone does not";
}

// Simulates the agent's estimator (call_sites.h) for blocks of one size: one in
// `interval` bytes is sampled, and stands for 1 / probability of them.
Amount SampledBlocks(double block_bytes, int count, double interval,
                     RandomSequence* random) {
  const double probability = -std::expm1(-block_bytes / interval);
  const double bytes = block_bytes / probability;
  int sampled_count = 0;
  for (int i = 0; i < count; ++i) {
    if (random->Uniform() < probability) ++sampled_count;
  }
  return MakeAmount(static_cast<int64_t>(std::llround(sampled_count * bytes)),
                    sampled_count,
                    sampled_count * bytes * bytes * (1 - probability));
}

// Tests rows of small blocks, of blocks about as large as the interval, and of
// both.
TEST(AmountsTest, TwoSigmaHold95WhateverTheBlocksSizes) {
  constexpr double kInterval = 1 << 16;
  struct Row {
    double block_bytes;
    int count;
  };
  constexpr Row kRows[] = {{1024, 400},  {1024, 2000}, {8192, 50},
                           {8192, 200},  {32768, 20},  {32768, 80},
                           {131072, 12}, {131072, 40}};
  RandomSequence random(16);
  int within_count = 0;
  int count = 0;
  for (int run = 0; run < 2000; ++run) {
    for (const Row& row : kRows) {
      Amount sum =
          SampledBlocks(row.block_bytes, row.count, kInterval, &random);
      AddTo(SampledBlocks(512, run % 2 == 0 ? 1000 : 0, kInterval, &random),
            &sum);
      const double truth =
          row.block_bytes * row.count + 512 * (run % 2 == 0 ? 1000 : 0);
      const double error = static_cast<double>(sum.bytes()) - truth;
      ++count;
      if (std::abs(error) <= 2 * SigmaBytes(sum)) ++within_count;
    }
  }
  EXPECT_GE(within_count, count * 95 / 100) << "of " << count;
  EXPECT_LE(within_count, count * 975 / 1000) << "of " << count;
}

}  // namespace
}  // namespace footprint
