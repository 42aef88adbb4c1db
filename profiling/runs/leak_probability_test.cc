#include "footprint/profiling/runs/leak_probability.h"

#include <cmath>
#include <functional>
#include <vector>

#include "absl/types/span.h"
#include "footprint/base/random/random_sequence.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

std::vector<double> Windows(int count, const std::function<double(int)>& at) {
  std::vector<double> floors;
  for (int i = 0; i < count; ++i) floors.push_back(at(i));
  return floors;
}

TEST(LeakProbabilityTest, IsWhatTheHeaderSays) {
  const double floors[] = {10, 20, 31, 40, 50, 62, 70, 80, 91, 100};
  EXPECT_NEAR(LeakProbability(floors), 0.87, 0.005);
}

TEST(LeakProbabilityTest, MoreRisesAreSurer) {
  double before = 0;
  for (int count = 4; count <= 24; ++count) {
    const double probability =
        LeakProbability(Windows(count, [](int i) { return 5.0 + i; }));
    EXPECT_GT(probability, before);
    before = probability;
  }
  EXPECT_NEAR(before, 0.96, 0.005);
}

// Computes three rises by hand.
TEST(LeakProbabilityTest, FollowsBayesRule) {
  const double grows = 175.0 / 256;  // 4 * the integral of p^3 above 3/4
  const double stays = 27.0 / 256;
  // Either one rise and then two, or two and then one.
  const double bounded = (7.0 / 8 * 3 / 16 + 37.0 / 48 * 3 / 8) / 2;
  EXPECT_NEAR(LeakProbability(Windows(4, [](int i) { return 1.0 + i; })),
              grows / (grows + stays + bounded), 1e-9);
}

TEST(LeakProbabilityTest, WhatWasFilledIsNone) {
  for (int last_rise = 1; last_rise <= 17; ++last_rise) {
    EXPECT_LT(LeakProbability(Windows(
                  24, [&](int i) { return 5.0 + std::min(i, last_rise); })),
              0.3)
        << last_rise;
  }
}

// A cache of a bounded number of blocks, as memprof once measured it. By
// chance, new blocks were larger than removed ones in nearly every window.
TEST(LeakProbabilityTest, WhatWasFilledAndGrowsByChanceIsNone) {
  const double kib[] = {0,    1190, 2721, 4104, 5381, 6664, 8022, 8132, 8140,
                        8213, 8304, 8338, 8346, 8437, 8573, 8695, 8786, 8790};
  EXPECT_EQ(LeakProbability(kib), 0);
  // The same rises are a leak if those at the end are like the others.
  EXPECT_GT(
      LeakProbability(Windows(
          18, [&](int i) { return kib[i] + (i > 6 ? 1000.0 * (i - 6) : 0); })),
      0.9);
}

// The last third of three steps is one step.
TEST(LeakProbabilityTest, TheLastThirdIsRoundedUp) {
  EXPECT_EQ(LeakProbability(std::vector<double>{0, 10, 20, 21}), 0);
  EXPECT_GT(LeakProbability(std::vector<double>{0, 10, 20, 30}), 0.5);
  // The last third of four steps is two steps.
  EXPECT_GT(LeakProbability(std::vector<double>{0, 10, 20, 30, 31}), 0.5);
}

TEST(LeakProbabilityTest, AFloorThatStaysIsNoRise) {
  const double once =
      LeakProbability(Windows(12, [](int i) { return i < 6 ? i : i - 1.0; }));
  const double never = LeakProbability(Windows(12, [](int i) { return i; }));
  EXPECT_LT(once, never);
}

TEST(LeakProbabilityTest, WhatSlowsDownToHalfIsALeak) {
  const auto slower = [](double share) {
    // There are 16 windows at one speed and 8 at another.
    return [share](int i) { return i < 16 ? i : 15 + share * (i - 15); };
  };
  // Half of the overall speed is 0.4 of the earlier speed.
  EXPECT_EQ(LeakProbability(Windows(24, slower(0.38))), 0);
  EXPECT_GT(LeakProbability(Windows(24, slower(0.42))), 0.9);
}

TEST(LeakProbabilityTest, WhatGoesUpAndDownIsNone) {
  RandomSequence random(1);
  int suspected = 0;
  for (int round = 0; round < 1000; ++round) {
    const std::vector<double> floors =
        Windows(24, [&](int) { return 100 + random.Uniform(); });
    if (LeakProbability(floors) >= 0.5) ++suspected;
  }
  EXPECT_LT(suspected, 5);
}

TEST(LeakProbabilityTest, WhatIsGoneIsNone) {
  std::vector<double> floors = Windows(24, [](int i) { return 5.0 + i; });
  floors.back() = 1;
  EXPECT_EQ(LeakProbability(floors), 0);
  EXPECT_EQ(LeakProbability(Windows(24, [](int) { return 0.0; })), 0);
  EXPECT_EQ(LeakProbability({}), 0);
}

TEST(WindowsForSamplesTest, HaveFourSamplesEach) {
  const std::vector<double> floors =
      Windows(24, [](int i) { return 100.0 + i; });
  EXPECT_EQ(WindowsForSamples(floors, 1000).size(), 24u);
  EXPECT_EQ(WindowsForSamples(floors, 96).size(), 24u);
  EXPECT_EQ(WindowsForSamples(floors, 95).size(), 12u);
  EXPECT_EQ(WindowsForSamples(floors, 20).size(), 4u);
  EXPECT_TRUE(WindowsForSamples(floors, 15).empty());
  EXPECT_TRUE(WindowsForSamples(floors, NAN).empty());
  EXPECT_TRUE(
      WindowsForSamples(absl::MakeConstSpan(floors).subspan(21), 1e9).empty());
}

// Each is the least of the windows it joins, and the last is the last window.
TEST(WindowsForSamplesTest, AreTheLeastOfWhatTheyJoin) {
  const double floors[] = {9, 8, 7, 6, 5, 4, 3, 2, 1};
  EXPECT_EQ(WindowsForSamples(floors, 16), (std::vector<double>{7, 5, 3, 1}));
}

}  // namespace
}  // namespace footprint
