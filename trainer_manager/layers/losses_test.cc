#include "footprint/trainer_manager/layers/losses.h"

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
using ::testing::Pointwise;

TEST(LossesTest, ValuesAreThoseOfTheFormulae) {
  LayerHarness squares(MeanSquaredError(), {{{2, 1}}});
  squares.Values(Role::kInput) = {1, 5};
  squares.Values(Role::kLabel) = {3, 4};
  ASSERT_THAT(squares.Forward(), IsOk());
  EXPECT_THAT(squares.Values(Role::kOutput), ElementsAre(2.5f));
  LayerHarness entropy(SoftmaxCrossEntropy(), {{{2, 2}}});
  entropy.Values(Role::kInput) = {0, 0, 1000, 0};  // a naive exp overflows
  entropy.SetIndices(Role::kLabel, {1, 0});
  ASSERT_THAT(entropy.Forward(), IsOk());
  EXPECT_THAT(entropy.Values(Role::kOutput),
              ElementsAre(FloatNear(0.5f * std::log(2.0f), 1e-6f)));
}

TEST(LossesTest, DerivativesMatchCentralDifferences) {
  LayerHarness squares(MeanSquaredError(), {{{3, 4}}});
  EXPECT_LT(squares.WorstDerivativeError(), 1e-3);
  for (const Shape& shape : {Shape{4, 5}, Shape{2, 3, 5}, Shape{1, 2, 2, 5}}) {
    LayerHarness entropy(SoftmaxCrossEntropy(), {{shape}},
                         NetworkMode::kTraining, 1, 5);
    EXPECT_LT(entropy.WorstDerivativeError(), 2e-3) << shape.ToString();
  }
}

// Golden values of torch 1.13.1 in double precision: cross_entropy(logits,
// labels, ignore_index=-100, label_smoothing=0.2) and its backward().
TEST(LossesTest, SmoothedAndIgnoredLabelsAreThoseOfPyTorch) {
  SoftmaxOptions options;
  options.label_smoothing = 0.2f;
  options.ignored_label = -100;
  LayerHarness entropy(SoftmaxCrossEntropy(options), {{{4, 3}}});
  entropy.Values(Role::kInput) = {1,  2,    -0.5f, 0.25f, 0,  3,
                                  -1, 0.5f, 0.5f,  2,     -2, 1};
  entropy.SetIndices(Role::kLabel, {1, 2, -100, 0});
  ASSERT_THAT(entropy.Forward(), IsOk());
  EXPECT_THAT(entropy.Values(Role::kOutput),
              ElementsAre(FloatNear(0.585267628f, 1e-6f)));
  entropy.Backward();
  EXPECT_THAT(
      entropy.Values(Role::kInputDerivative),
      Pointwise(FloatNear(1e-6f),
                std::vector<float>{
                    0.0623498383f, -0.0589981935f, -0.00335164481f,
                    -0.00308870205f, -0.00732102173f, 0.0104097238f, 0, 0, 0,
                    -0.0484224941f, -0.0178179266f, 0.0662404207f}));
}

TEST(LossesTest, DerivativesOfEachOptionMatchCentralDifferences) {
  for (const float smoothing : {0.0f, 0.3f}) {
    for (const bool ignores : {false, true}) {
      SoftmaxOptions options;
      options.label_smoothing = smoothing;
      if (ignores) options.ignored_label = 2;
      LayerHarness entropy(SoftmaxCrossEntropy(options), {{{8, 5}}},
                           NetworkMode::kTraining, 1, 5);
      EXPECT_LT(entropy.WorstDerivativeError(), 2e-3) << smoothing << ignores;
    }
  }
}

TEST(LossesTest, RefusesOptionsAndLabelsThatGiveNoLoss) {
  SoftmaxOptions options;
  for (const float smoothing : {-0.1f, 1.0f, std::nanf("")}) {
    options.label_smoothing = smoothing;
    EXPECT_THAT(Refusal(SoftmaxCrossEntropy(options), {{{2, 3}}}), Not(IsOk()));
  }
  options.label_smoothing = 0;
  options.ignored_label = (1 << 24) + 1;
  EXPECT_THAT(Refusal(SoftmaxCrossEntropy(options), {{{2, 3}}}), Not(IsOk()));
  options.ignored_label = -1;
  LayerHarness entropy(SoftmaxCrossEntropy(options), {{{2, 3}}});
  entropy.SetIndices(Role::kLabel, {-1, -1});
  EXPECT_THAT(std::string(entropy.Forward().message()),
              HasSubstr("all 2 labels are -1"));
  entropy.SetIndices(Role::kLabel, {-1, -2});
  EXPECT_THAT(std::string(entropy.Forward().message()),
              HasSubstr("label -2 at index 1"));
}

TEST(LossesTest, IgnoredElementsHaveNoSquaredError) {
  SquaredErrorOptions options;
  options.ignored_label = -7;
  LayerHarness squares(MeanSquaredError(options), {{{2, 2}}});
  squares.Values(Role::kInput) = {1, 9, 5, 2};
  squares.Values(Role::kLabel) = {3, -7, 4, -7};
  ASSERT_THAT(squares.Forward(), IsOk());
  EXPECT_THAT(squares.Values(Role::kOutput), ElementsAre(2.5f));
  squares.Backward();
  EXPECT_THAT(squares.Values(Role::kInputDerivative), ElementsAre(-2, 0, 1, 0));
  squares.Values(Role::kInput) = {1, 9, 5, 2};
  EXPECT_LT(squares.WorstDerivativeError(), 1e-3);
  squares.Values(Role::kLabel) = {-7, -7, -7, -7};
  EXPECT_THAT(std::string(squares.Forward().message()),
              HasSubstr("all 4 labels are -7"));
}

TEST(LossesTest, RefusesALabelThatIsNoClass) {
  for (const int32_t label : {-1, 3}) {
    LayerHarness entropy(SoftmaxCrossEntropy(), {{{2, 3}}});
    entropy.SetIndices(Role::kLabel, {0, label});
    const absl::Status status = entropy.Forward();
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kOutOfRange));
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("at index 1 is not one of the 3 classes"));
  }
  EXPECT_THAT(Refusal(SoftmaxCrossEntropy(), {{{3}}}), Not(IsOk()));
}

}  // namespace
}  // namespace footprint
