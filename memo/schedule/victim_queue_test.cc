#include "footprint/memo/schedule/victim_queue.h"

#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace footprint::memo_internal {
namespace {

// Compares every value each time.
class NaiveQueue {
 public:
  explicit NaiveQueue(std::vector<double> weights)
      : weights_(std::move(weights)), next_uses_(weights_.size(), -1) {}

  void Put(int value, int next_use) {
    next_uses_[static_cast<size_t>(value)] = next_use;
  }
  void Remove(int value) { next_uses_[static_cast<size_t>(value)] = -1; }
  int Best(int step) const {
    int best = -1;
    double most = 0;
    for (size_t value = 0; value < weights_.size(); ++value) {
      if (next_uses_[value] < 0) continue;
      const double gain =
          static_cast<double>(next_uses_[value] - step) * weights_[value];
      if (gain <= most) continue;
      most = gain;
      best = static_cast<int>(value);
    }
    return best;
  }

 private:
  const std::vector<double> weights_;
  std::vector<int> next_uses_;
};

TEST(VictimQueueTest, NothingHasNoVictim) {
  EXPECT_EQ(VictimQueue({}).Best(3), -1);
  EXPECT_EQ(VictimQueue({1, 1}).Best(3), -1);
}

TEST(VictimQueueTest, OfOneWeightTheValueUsedLastGoes) {
  VictimQueue queue({1, 1, 1});
  queue.Put(0, 7, 2);
  queue.Put(1, 9, 2);
  queue.Put(2, 9, 2);
  EXPECT_EQ(queue.Best(2), 1);
  queue.Remove(1, 3);
  EXPECT_EQ(queue.Best(3), 2);
  queue.Put(0, 12, 4);
  EXPECT_EQ(queue.Best(4), 0);
}

TEST(VictimQueueTest, AHeavyValueLosesGroundAsItsUseComesNearer) {
  VictimQueue queue({1, 10});
  queue.Put(0, 109, 0);
  queue.Put(1, 20, 0);
  EXPECT_EQ(queue.Best(0), 1);
  EXPECT_EQ(queue.Best(10), 1);  // 100 against 99
  EXPECT_EQ(queue.Best(11), 0);  // 90 against 98
}

TEST(VictimQueueTest, WhatIsUsedNowOrTakesNothingGainsNothing) {
  VictimQueue queue({5, 0});
  queue.Put(0, 4, 3);
  queue.Put(1, 100, 3);
  EXPECT_EQ(queue.Best(3), 0);
  EXPECT_EQ(queue.Best(4), -1);
}

TEST(VictimQueueTest, EqualsALookAtEveryValue) {
  std::mt19937 random(4);
  const auto draw = [&random](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  for (int round = 0; round < 300; ++round) {
    std::vector<double> weights(static_cast<size_t>(draw(1, 40)));
    const int most = draw(0, 1) == 0 ? 3 : 1000;
    for (double& weight : weights) weight = draw(0, most);
    VictimQueue queue(weights);
    NaiveQueue naive(weights);
    const int last = static_cast<int>(weights.size()) - 1;
    for (int step = 0; step < 400; step += draw(0, 2)) {
      const int value = draw(0, last);
      if (draw(0, 3) == 0) {
        queue.Remove(value, step);
        naive.Remove(value);
      } else {
        const int next_use = step + draw(1, 200);
        queue.Put(value, next_use, step);
        naive.Put(value, next_use);
      }
      if (draw(0, 1) == 0) {
        ASSERT_EQ(queue.Best(step), naive.Best(step)) << round << ", " << step;
      }
    }
  }
}

}  // namespace
}  // namespace footprint::memo_internal
