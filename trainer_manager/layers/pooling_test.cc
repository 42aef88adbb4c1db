#include "footprint/trainer_manager/layers/pooling.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/layers/layer_harness.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(PoolingTest, TakesTheLargestOrTheMean) {
  LayerHarness largest(MaxPool2d(2), {{{1, 1, 2, 4}}});
  largest.Values(Role::kInput) = {1, 2, 7, 4, 5, 3, 6, 0};
  ASSERT_THAT(largest.Forward(), IsOk());
  EXPECT_THAT(largest.Values(Role::kOutput), ElementsAre(5, 7));
  largest.Values(Role::kOutputDerivative) = {10, 20};
  largest.Backward();
  EXPECT_THAT(largest.Values(Role::kInputDerivative),
              ElementsAre(0, 0, 20, 0, 10, 0, 0, 0));
  LayerHarness mean(AveragePool2d(2), {{{1, 1, 2, 4}}});
  mean.Values(Role::kInput) = {1, 2, 7, 4, 5, 3, 6, 0};
  ASSERT_THAT(mean.Forward(), IsOk());
  EXPECT_THAT(mean.Values(Role::kOutput), ElementsAre(2.75f, 4.25f));
}

TEST(PoolingTest, TheGlobalPoolIsTheMeanOfAChannel) {
  LayerHarness mean(GlobalAveragePool2d(), {{{1, 2, 1, 2}}});
  mean.Values(Role::kInput) = {1, 2, 7, 4};
  ASSERT_THAT(mean.Forward(), IsOk());
  EXPECT_EQ(mean.signature().output.shape, Shape({1, 2}));
  EXPECT_THAT(mean.Values(Role::kOutput), ElementsAre(1.5f, 5.5f));
  LayerHarness harness(GlobalAveragePool2d(), {{{3, 2, 4, 5}}});
  EXPECT_LT(harness.WorstDerivativeError(), 1e-3);
  EXPECT_THAT(Refusal(GlobalAveragePool2d(), {{{3, 2, 4}}}), Not(IsOk()));
}

TEST(PoolingTest, DerivativesMatchCentralDifferences) {
  for (const int64_t stride : {1, 2, 3}) {
    for (const int64_t window : {1, 2, 3}) {
      LayerHarness largest(MaxPool2d(window, stride), {{{2, 2, 7, 6}}});
      // Values are 0.05 apart, so that no step changes which is the largest.
      std::vector<float>& input = largest.Values(Role::kInput);
      for (size_t i = 0; i < input.size(); ++i) {
        input[i] = 0.05f * static_cast<float>(i * 61 % input.size());
      }
      EXPECT_LT(largest.WorstDerivativeError(), 1e-3)
          << window << " " << stride;
      LayerHarness mean(AveragePool2d(window, stride), {{{2, 2, 7, 6}}});
      EXPECT_LT(mean.WorstDerivativeError(), 1e-3) << window << " " << stride;
    }
  }
}

TEST(PoolingTest, PackedPlacesAreThoseInBytes) {
  for (const int64_t window : {1, 2, 3, 4, 5}) {
    const std::vector<TensorType> inputs = {{{3, 2, 7, 6}}};
    const LayerPointer layer = MaxPool2d(window, 1);
    LayerHarness packed(layer, inputs);
    ASSERT_THAT(packed.Forward(), IsOk());
    packed.Backward();
    const std::vector<float> input = packed.Values(Role::kInput);
    const std::vector<float> derivative =
        packed.Values(Role::kOutputDerivative);
    const std::vector<float> output = packed.Values(Role::kOutput);
    // The expected derivative goes to the value that equals the largest. Values
    // drawn at random differ.
    std::vector<float> expected(input.size(), 0.0f);
    for (size_t out = 0; out < output.size(); ++out) {
      for (size_t in = 0; in < input.size(); ++in) {
        const size_t outputs = output.size() / 6;
        if (in / 42 == out / outputs && input[in] == output[out]) {
          expected[in] += derivative[out];
        }
      }
    }
    EXPECT_EQ(packed.Values(Role::kInputDerivative), expected) << window;
    const int64_t bits = window == 1 ? 1 : window == 2 ? 2 : window < 5 ? 4 : 8;
    const int64_t outputs = static_cast<int64_t>(output.size()) / 3;
    EXPECT_EQ(packed.signature().saved[0].shape.extent(1),
              (outputs * bits + 7) / 8);
    EXPECT_EQ(layer
                  ->Describe({inputs, NetworkMode::kTraining, ReferenceMath(),
                              /*pack_winners=*/false})
                  ->saved[0]
                  .shape.extent(1),
              outputs);
  }
}

// Otherwise a part of the batch could not be read by itself.
TEST(PoolingTest, PlacesOfAnElementBeginWithAByteOfTheirOwn) {
  LayerHarness pool(MaxPool2d(2, 1), {{{2, 1, 4, 4}}});
  std::vector<float>& input = pool.Values(Role::kInput);
  std::copy(input.begin(), input.begin() + 16, input.begin() + 16);
  ASSERT_THAT(pool.Forward(), IsOk());
  const TensorType& saved = pool.signature().saved[0];
  ASSERT_EQ(saved.shape.extent(1), 3);  // nine winners of two bits
  const char* winners =
      reinterpret_cast<const char*>(pool.Values(Role::kSaved).data());
  EXPECT_EQ(std::string(winners, 3), std::string(winners + 3, 3));
}

TEST(PoolingTest, TheRestoredInputIsTheLargestAndElseZero) {
  LayerHarness pool(MaxPool2d(2), {{{1, 1, 2, 4}}});
  pool.Values(Role::kInput) = {1, 2, 7, 4, 5, 3, 6, 0};
  ASSERT_THAT(pool.Forward(), IsOk());
  pool.RestoreInput();
  EXPECT_THAT(pool.Values(Role::kInput), ElementsAre(0, 0, 7, 0, 5, 0, 0, 0));
}

TEST(PoolingTest, NotANumberComesThrough) {
  for (size_t winner = 0; winner < 4; ++winner) {
    LayerHarness largest(MaxPool2d(2), {{{1, 1, 2, 2}}});
    largest.Values(Role::kInput)[winner] = NAN;
    ASSERT_THAT(largest.Forward(), IsOk());
    EXPECT_TRUE(std::isnan(largest.Values(Role::kOutput)[0]));
  }
}

TEST(PoolingTest, RefusesWindowsThatDoNotFit) {
  EXPECT_THAT(std::string(Refusal(MaxPool2d(5), {{{1, 1, 4, 9}}}).message()),
              HasSubstr("[1, 1, 4, 9]"));
  EXPECT_THAT(Refusal(MaxPool2d(17), {{{1, 1, 40, 40}}}), Not(IsOk()));
  EXPECT_THAT(Refusal(AveragePool2d(0), {{{1, 1, 4, 4}}}), Not(IsOk()));
  EXPECT_THAT(Refusal(AveragePool2d(2, -1), {{{1, 1, 4, 4}}}), Not(IsOk()));
}

}  // namespace
}  // namespace footprint
