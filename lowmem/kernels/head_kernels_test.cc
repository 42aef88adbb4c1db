#include "footprint/lowmem/kernels/head_kernels.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "footprint/base/simd/each_vector_target.h"
#include "footprint/lowmem/kernels/token_panel.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

std::vector<float> Numbers(std::mt19937& random, int64_t count) {
  std::normal_distribution<float> normal;
  std::vector<float> numbers(count);
  for (float& x : numbers) x = normal(random);
  return numbers;
}

TEST(RmsNormTest, DividesByTheRootOfTheMeanSquare) {
  std::mt19937 random(4);
  constexpr int64_t kPanels = 2;
  for (const int64_t features : {1, 8, 53, 600}) {
    const int64_t panel_floats = features * kPanelTokens;
    const std::vector<float> input = Numbers(random, kPanels * panel_floats);
    const std::vector<float> gain = Numbers(random, features);
    ForEachVectorTarget([&](bool) {
      std::vector<float> output(input.size());
      RmsNorm(features, kPanels, gain.data(), 1e-5f, input.data(),
              output.data());
      for (int64_t column = 0; column < kPanels * kPanelTokens; ++column) {
        const auto at = [&](int64_t feature) {
          return column / kPanelTokens * panel_floats + feature * kPanelTokens +
                 column % kPanelTokens;
        };
        double squares = 0;
        for (int64_t i = 0; i < features; ++i) {
          squares += std::pow(static_cast<double>(input[at(i)]), 2);
        }
        const double root =
            std::sqrt(squares / static_cast<double>(features) + 1e-5);
        for (int64_t i = 0; i < features; ++i) {
          const double expected = gain[i] * input[at(i)] / root;
          ASSERT_NEAR(output[at(i)], expected,
                      5e-7 * std::abs(expected) + 1e-12);
        }
      }
    });
  }
}

TEST(NormaliseHeadTest, DividesByTheRootOfTheMeanSquare) {
  std::mt19937 random(1);
  constexpr int64_t kStride = 48;  // as in a cache of positions
  for (const int64_t features : {2, 12, 64, 300}) {
    const std::vector<float> input = Numbers(random, features * kStride);
    const std::vector<float> gain = Numbers(random, features);
    ForEachVectorTarget([&](bool) {
      std::vector<float> output = input;
      NormaliseHead(features, gain.data(), 1e-6f,
                    {output.data() + 16, kStride, kPanelTokens});
      for (int64_t lane = 0; lane < kStride; ++lane) {
        double squares = 0;
        for (int64_t i = 0; i < features; ++i) {
          squares +=
              std::pow(static_cast<double>(input[i * kStride + lane]), 2);
        }
        const double root =
            std::sqrt(squares / static_cast<double>(features) + 1e-6);
        for (int64_t i = 0; i < features; ++i) {
          const float before = input[i * kStride + lane];
          const float after = output[i * kStride + lane];
          if (lane < 16 || lane >= 32) {
            ASSERT_EQ(after, before) << "a lane beside the head";
          } else {
            ASSERT_NEAR(after, gain[i] * before / root,
                        4e-7 * std::abs(gain[i] * before / root) + 1e-12);
          }
        }
      }
    });
  }
}

TEST(RotateHeadTest, TurnsPairsAndLeavesTheRest) {
  std::mt19937 random(2);
  constexpr int64_t kPairs = 5;
  constexpr int64_t kFeatures = 13;
  const std::vector<float> input = Numbers(random, kFeatures * kPanelTokens);
  std::vector<float> cosines;
  std::vector<float> sines;
  for (int64_t i = 0; i < kPairs * kPanelTokens; ++i) {
    cosines.push_back(std::cos(0.1f * static_cast<float>(i)));
    sines.push_back(std::sin(0.1f * static_cast<float>(i)));
  }
  ForEachVectorTarget([&](bool) {
    std::vector<float> output = input;
    RotateHead({cosines.data(), sines.data(), kPairs}, {output.data()});
    for (int64_t lane = 0; lane < kPanelTokens; ++lane) {
      const auto at = [lane](int64_t feature) {
        return feature * kPanelTokens + lane;
      };
      for (int64_t i = 0; i < kPairs; ++i) {
        const double a = input[at(i)];
        const double b = input[at(i + kPairs)];
        EXPECT_NEAR(output[at(i)], a * cosines[at(i)] - b * sines[at(i)], 1e-6);
        EXPECT_NEAR(output[at(i + kPairs)],
                    b * cosines[at(i)] + a * sines[at(i)], 1e-6);
      }
      for (int64_t i = 2 * kPairs; i < kFeatures; ++i) {
        EXPECT_EQ(output[at(i)], input[at(i)]);
      }
    }
  });
}

// A token gets the same bits whether it is read alone or among others.
TEST(HeadKernelsTest, GiveALaneTheBitsThatItHasAlone) {
  std::mt19937 random(3);
  constexpr int64_t kFeatures = 64;
  const std::vector<float> input = Numbers(random, kFeatures * kPanelTokens);
  const std::vector<float> gain = Numbers(random, kFeatures);
  const std::vector<float> cosines = Numbers(random, 32 * kPanelTokens);
  const std::vector<float> sines = Numbers(random, 32 * kPanelTokens);
  ForEachVectorTarget([&](bool) {
    std::vector<float> panel = input;
    NormaliseHead(kFeatures, gain.data(), 1e-5f, {panel.data()});
    RotateHead({cosines.data(), sines.data(), 32}, {panel.data()});
    std::vector<float> alone = input;
    for (int64_t lane = 0; lane < kPanelTokens; ++lane) {
      const HeadView head = {alone.data() + lane, kPanelTokens, 1};
      NormaliseHead(kFeatures, gain.data(), 1e-5f, head);
      RotateHead({cosines.data() + lane, sines.data() + lane, 32}, head);
    }
    EXPECT_EQ(
        std::memcmp(panel.data(), alone.data(), panel.size() * sizeof(float)),
        0);
  });
}

}  // namespace
}  // namespace footprint
