#include "footprint/trainer_manager/layers/normalization.h"

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

TEST(NormalizationTest, BatchNormalizationHasMeanZeroAndVarianceOne) {
  LayerHarness harness(BatchNormalization(), {{{2, 1, 1, 2}}});
  harness.Values(Role::kInput) = {1, 2, 3, 6};
  harness.Values(Role::kWeight, 0) = {2};
  harness.Values(Role::kWeight, 1) = {10};
  harness.Values(Role::kRunningStatistic, 0) = {0};
  harness.Values(Role::kRunningStatistic, 1) = {1};
  ASSERT_THAT(harness.Forward(), IsOk());
  const float unit = 2 / std::sqrt(3.5f + 1e-5f);
  EXPECT_THAT(
      harness.Values(Role::kOutput),
      ElementsAre(FloatNear(10 - 2 * unit, 1e-5f), FloatNear(10 - unit, 1e-5f),
                  FloatNear(10, 1e-5f), FloatNear(10 + 3 * unit, 1e-5f)));
  EXPECT_THAT(harness.Values(Role::kRunningStatistic, 0),
              ElementsAre(FloatNear(0.3f, 1e-6f)));
  EXPECT_THAT(harness.Values(Role::kRunningStatistic, 1),  // 0.9 + 0.1 * 14 / 3
              ElementsAre(FloatNear(1.3666667f, 1e-5f)));
}

TEST(NormalizationTest, InferenceUsesTheRunningStatistics) {
  LayerHarness harness(BatchNormalization(), {{{1, 2}}},
                       NetworkMode::kInference);
  harness.Values(Role::kInput) = {3, 5};
  harness.Values(Role::kWeight, 0) = {1, 2};
  harness.Values(Role::kWeight, 1) = {0, 1};
  harness.Values(Role::kRunningStatistic, 0) = {1, 5};
  harness.Values(Role::kRunningStatistic, 1) = {4, 9};
  ASSERT_THAT(harness.Forward(), IsOk());
  EXPECT_THAT(harness.Values(Role::kOutput),
              ElementsAre(FloatNear(1, 1e-5f), FloatNear(1, 1e-5f)));
}

TEST(NormalizationTest, AFrozenOneDoesInTrainingWhatItDoesInInference) {
  const std::vector<TensorType> inputs = {{{3, 4, 2, 2}}};
  LayerHarness frozen(BatchNormalization(), inputs, NetworkMode::kTraining, 1,
                      3, /*frozen=*/true);
  LayerHarness inference(BatchNormalization(), inputs, NetworkMode::kInference);
  ASSERT_THAT(frozen.Forward(), IsOk());
  ASSERT_THAT(inference.Forward(), IsOk());
  const std::vector<float> output = frozen.Values(Role::kOutput);
  EXPECT_EQ(output, inference.Values(Role::kOutput));
  EXPECT_TRUE(frozen.signature().saved.empty());
  EXPECT_TRUE(frozen.signature().gradient.writes.empty());
  EXPECT_LT(frozen.WorstDerivativeError(), 1e-3);
  frozen.Values(Role::kOutput).assign(output.size(), 0);
  ASSERT_THAT(frozen.Recompute(), IsOk());
  EXPECT_EQ(frozen.Values(Role::kOutput), output);
}

TEST(NormalizationTest, RmsNormalizationHasMeanSquareOne) {
  LayerHarness harness(RmsNormalization(), {{{2, 2}}});
  harness.Values(Role::kInput) = {3, 4, -6, 8};
  harness.Values(Role::kWeight) = {1, 10};
  ASSERT_THAT(harness.Forward(), IsOk());
  const float root = std::sqrt(12.5f);
  EXPECT_THAT(
      harness.Values(Role::kOutput),
      ElementsAre(FloatNear(3 / root, 1e-6f), FloatNear(40 / root, 1e-5f),
                  FloatNear(-3 / root, 1e-6f), FloatNear(40 / root, 1e-5f)));
  const std::vector<float> output = harness.Values(Role::kOutput);
  ASSERT_THAT(harness.Recompute(), IsOk());
  EXPECT_EQ(harness.Values(Role::kOutput), output);
  LayerHarness inference(RmsNormalization(), {{{2, 2}}},
                         NetworkMode::kInference);
  inference.Values(Role::kInput) = {3, 4, -6, 8};
  inference.Values(Role::kWeight) = {1, 10};
  ASSERT_THAT(inference.Forward(), IsOk());
  EXPECT_EQ(inference.Values(Role::kOutput), output);
}

TEST(NormalizationTest, RmsBackwardMatchesCentralDifferences) {
  for (const Shape& shape : {Shape{3, 8}, Shape{2, 3, 6}}) {
    LayerHarness layer(RmsNormalization(), {{shape}});
    EXPECT_LT(layer.WorstGradientError(), 2e-3) << shape.ToString();
    EXPECT_LT(layer.WorstDerivativeError(), 1e-2) << shape.ToString();
  }
  EXPECT_THAT(Refusal(RmsNormalization(0), {{{2, 2}}}), Not(IsOk()));
  EXPECT_THAT(Refusal(RmsNormalization(), {{{2}}}), Not(IsOk()));
}

TEST(NormalizationTest, BackwardMatchesCentralDifferences) {
  for (const Shape& shape : {Shape{6, 3}, Shape{3, 2, 2, 2}}) {
    LayerHarness batch(BatchNormalization(), {{shape}});
    EXPECT_LT(batch.WorstGradientError(), 2e-3) << shape.ToString();
    EXPECT_LT(batch.WorstDerivativeError(), 1e-2) << shape.ToString();
  }
  for (const Shape& shape : {Shape{3, 8}, Shape{2, 3, 6}}) {
    LayerHarness layer(LayerNormalization(), {{shape}});
    EXPECT_LT(layer.WorstGradientError(), 2e-3) << shape.ToString();
    EXPECT_LT(layer.WorstDerivativeError(), 1e-2) << shape.ToString();
  }
}

TEST(NormalizationTest, TheOutputComesAgainAndStatisticsMoveOnce) {
  for (const LayerPointer& layer :
       {BatchNormalization(), LayerNormalization()}) {
    LayerHarness harness(layer, {{{3, 4, 2, 5}}});
    ASSERT_THAT(harness.Forward(), IsOk());
    const std::vector<float> output = harness.Values(Role::kOutput);
    const bool batch = !harness.signature().statistics.empty();
    const float mean =
        batch ? harness.Values(Role::kRunningStatistic, 0)[0] : 0;
    std::fill(harness.Values(Role::kOutput).begin(),
              harness.Values(Role::kOutput).end(), NAN);
    ASSERT_THAT(harness.Recompute(), IsOk());
    EXPECT_EQ(harness.Values(Role::kOutput), output) << layer->type();
    EXPECT_EQ(batch ? harness.Values(Role::kRunningStatistic, 0)[0] : 0, mean);
  }
}

TEST(NormalizationTest, RefusesABatchWithoutVariance) {
  EXPECT_THAT(std::string(Refusal(BatchNormalization(), {{{1, 4}}}).message()),
              HasSubstr("no variance"));
  EXPECT_THAT(Refusal(BatchNormalization(0.0f), {{{2, 4}}}), Not(IsOk()));
  EXPECT_THAT(Refusal(LayerNormalization(-1.0f), {{{2, 4}}}), Not(IsOk()));
  for (const float momentum : {-0.1f, 1.5f, NAN}) {
    EXPECT_THAT(
        std::string(
            Refusal(BatchNormalization(1e-5f, momentum), {{{2, 4}}}).message()),
        HasSubstr("from 0 to 1"));
  }
}

}  // namespace
}  // namespace footprint
