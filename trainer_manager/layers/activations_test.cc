#include "footprint/trainer_manager/layers/activations.h"

#include <cmath>
#include <string>
#include <vector>

#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/layers/layer.h"
#include "footprint/trainer_manager/layers/layer_harness.h"
#include "footprint/trainer_manager/layers/tensor_type.h"
#include "footprint/trainer_manager/math/math_backend.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(ActivationsTest, ValuesAreThoseOfTheFunctions) {
  const auto value = [](LayerPointer layer, float x) {
    LayerHarness harness(layer, {{{1, 1}}});
    harness.Values(Role::kInput) = {x};
    EXPECT_THAT(harness.Forward(), IsOk());
    return harness.Values(Role::kOutput)[0];
  };
  EXPECT_EQ(value(Relu(), -2), 0);
  EXPECT_EQ(value(Relu(), 3), 3);
  EXPECT_FLOAT_EQ(value(Sigmoid(), 0.5f), 0.62245933f);
  EXPECT_FLOAT_EQ(value(Tanh(), 0.5f), 0.46211716f);
  EXPECT_FLOAT_EQ(value(Gelu(), 1.0f), 0.8413447f);
  EXPECT_FLOAT_EQ(value(Gelu(), -1.0f), -0.15865529f);
  EXPECT_FLOAT_EQ(value(Silu(), 1.0f), 0.73105858f);
  EXPECT_NEAR(value(Silu(), -100.0f), 0, 1e-30);
}

TEST(ActivationsTest, DerivativesMatchCentralDifferences) {
  for (const LayerPointer& layer : {Sigmoid(), Tanh(), Gelu(), Silu()}) {
    LayerHarness harness(layer, {{{3, 7}}});
    EXPECT_LT(harness.WorstDerivativeError(), 1e-3) << layer->type();
  }
  LayerHarness relu(Relu(), {{{3, 7}}});
  // Moves values away from the kink, where there is no derivative.
  for (float& x : relu.Values(Role::kInput)) x += x < 0 ? -0.1f : 0.1f;
  EXPECT_LT(relu.WorstDerivativeError(), 1e-3);
}

TEST(ActivationsTest, NotANumberComesThrough) {
  for (const LayerPointer& layer :
       {Relu(), Sigmoid(), Tanh(), Gelu(), Silu()}) {
    LayerHarness harness(layer, {{{1, 1}}});
    harness.Values(Role::kInput) = {NAN};
    ASSERT_THAT(harness.Forward(), IsOk());
    EXPECT_TRUE(std::isnan(harness.Values(Role::kOutput)[0])) << layer->type();
    harness.Backward();
    EXPECT_TRUE(std::isnan(harness.Values(Role::kInputDerivative)[0]))
        << layer->type();
  }
}

TEST(ActivationsTest, DropoutDropsItsShareAndTheSameInTheDerivative) {
  LayerHarness harness(Dropout(0.25f), {{{100, 100}}});
  std::vector<float>& input = harness.Values(Role::kInput);
  input.assign(input.size(), 1.0f);
  harness.Values(Role::kOutputDerivative) = input;
  ASSERT_THAT(harness.Forward(), IsOk());
  harness.Backward();
  int dropped = 0;
  const std::vector<float>& output = harness.Values(Role::kOutput);
  for (size_t i = 0; i < output.size(); ++i) {
    if (output[i] == 0)
      ++dropped;
    else
      EXPECT_FLOAT_EQ(output[i], 1 / 0.75f);
  }
  EXPECT_NEAR(dropped, 2500, 150);
  EXPECT_EQ(output, harness.Values(Role::kInputDerivative));
}

// Dropout has the same mask in a micro-batch, a slice of one, and the whole
// batch.
TEST(ActivationsTest, DropoutOfAPartIsThatOfTheWholeBatch) {
  const TensorType whole = {{8, 5}};
  const TensorType part = {{2, 5}};
  std::vector<float> ones(40, 1.0f);
  std::vector<float> expected(40);
  const LayerPointer layer = Dropout(0.5f);
  const auto forward = [&](const TensorType& spec, float* output,
                           BatchPlace place) {
    const StepData::Slot slots[] = {
        {{Role::kInput}, true, false, &spec, ones.data()},
        {{Role::kOutput}, false, true, &spec, output}};
    return layer->Forward(StepData(slots, NetworkMode::kTraining, /*seed=*/5,
                                   ReferenceMath(), {}, place));
  };
  ASSERT_THAT(forward(whole, expected.data(), {}), IsOk());
  std::vector<float> output(40);
  for (int64_t p = 0; p < 4; ++p) {
    ASSERT_THAT(forward(part, &output[10 * p], {p, 0, 0}), IsOk());
  }
  EXPECT_EQ(output, expected);
  output.assign(40, 0);
  // Two micro-batches of four rows, in slices of two.
  for (int64_t s = 0; s < 4; ++s) {
    ASSERT_THAT(forward(part, &output[10 * s], {s / 2, s % 2 * 2, 4}), IsOk());
  }
  EXPECT_EQ(output, expected);
}

TEST(ActivationsTest, DropoutDoesNothingInInference) {
  LayerHarness harness(Dropout(0.9f), {{{4, 5}}}, NetworkMode::kInference);
  ASSERT_THAT(harness.Forward(), IsOk());
  EXPECT_EQ(harness.Values(Role::kOutput), harness.Values(Role::kInput));
}

TEST(ActivationsTest, RefusesARateOfOneAndAnInputOfIntegers) {
  EXPECT_THAT(std::string(Refusal(Dropout(1.0f), {{{1, 1}}}).message()),
              HasSubstr("rate of 1"));
  EXPECT_THAT(Refusal(Dropout(NAN), {{{1, 1}}}), Not(IsOk()));
  EXPECT_THAT(std::string(Refusal(Relu(), {{{1, 1}, DType::kI32}}).message()),
              HasSubstr("must be of F32"));
  EXPECT_THAT(Refusal(Relu(), {{{1}}, {{1}}}), Not(IsOk()));
}

}  // namespace
}  // namespace footprint
