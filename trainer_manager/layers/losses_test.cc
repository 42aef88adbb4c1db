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

TEST(LossesTest, ValuesAreThoseOfTheFormulae) {
  LayerHarness squares(MeanSquaredError(), {{{2, 1}}});
  squares.Values(Role::kInput) = {1, 5};
  squares.Values(Role::kLabel) = {3, 4};
  ASSERT_THAT(squares.Forward(), IsOk());
  EXPECT_THAT(squares.Values(Role::kOutput), ElementsAre(2.5f));
  LayerHarness entropy(SoftmaxCrossEntropy(), {{{2, 2}}});
  entropy.Values(Role::kInput) = {0, 0, 1000, 0};  // overflows if done naively
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
