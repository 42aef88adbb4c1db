#include "footprint/trainer_manager/layers/layer_harness.h"

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/layers/layer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

// Multiplies by a weight. The gradient and the derivative are multiplied by
// factors, which should be 1.
class ScaleLayer final : public Layer {
 public:
  ScaleLayer(float gradient_factor, float derivative_factor)
      : gradient_factor_(gradient_factor),
        derivative_factor_(derivative_factor) {}

  absl::string_view type() const override { return "scale"; }

  absl::StatusOr<LayerSignature> Describe(
      const LayerInputs& inputs) const override {
    const absl::Status status = CheckOneFloatInput(inputs, 1, 1);
    if (!status.ok()) return status;
    LayerSignature signature;
    signature.output = inputs.inputs[0];
    signature.weights = {{"factor", {{1}}, Initializer::kOnes}};
    signature.forward.reads = {{Role::kInput}, {Role::kWeight}};
    signature.forward.writes = {{Role::kOutput}};
    signature.gradient.reads = {{Role::kInput}, {Role::kOutputDerivative}};
    signature.gradient.writes = {{Role::kGradient}};
    signature.derivative.reads = {{Role::kWeight}, {Role::kOutputDerivative}};
    signature.derivative.writes = {{Role::kInputDerivative}};
    return signature;
  }

  absl::Status Forward(const StepData& data) const override {
    for (int64_t i = 0; i < data.elements(Role::kInput); ++i) {
      data.Write(Role::kOutput)[i] =
          data.Read(Role::kInput)[i] * data.Read(Role::kWeight)[0];
    }
    return absl::OkStatus();
  }

  void CalculateGradient(const StepData& data) const override {
    float sum = 0;
    for (int64_t i = 0; i < data.elements(Role::kInput); ++i) {
      sum += data.Read(Role::kInput)[i] * data.Read(Role::kOutputDerivative)[i];
    }
    data.Write(Role::kGradient)[0] = gradient_factor_ * sum;
  }

  void CalculateDerivative(const StepData& data) const override {
    for (int64_t i = 0; i < data.elements(Role::kInputDerivative); ++i) {
      data.Write(Role::kInputDerivative)[i] =
          derivative_factor_ * data.Read(Role::kWeight)[0] *
          data.Read(Role::kOutputDerivative)[i];
    }
  }

 private:
  const float gradient_factor_;
  const float derivative_factor_;
};

LayerHarness Harness(float gradient_factor, float derivative_factor) {
  return {std::make_shared<ScaleLayer>(gradient_factor, derivative_factor),
          {{{5}}}};
}

TEST(LayerHarnessTest, ARightLayerHasSmallErrors) {
  LayerHarness harness = Harness(1, 1);
  EXPECT_LT(harness.WorstGradientError(), 1e-3);
  EXPECT_LT(harness.WorstDerivativeError(), 1e-3);
}

TEST(LayerHarnessTest, AWrongGradientAndAWrongDerivativeAreFound) {
  LayerHarness wrong_gradient = Harness(1.1f, 1);
  EXPECT_GT(wrong_gradient.WorstGradientError(), 0.05);
  EXPECT_LT(wrong_gradient.WorstDerivativeError(), 1e-3);
  LayerHarness wrong_derivative = Harness(1, -1);
  EXPECT_LT(wrong_derivative.WorstGradientError(), 1e-3);
  EXPECT_GT(wrong_derivative.WorstDerivativeError(), 1);
}

TEST(LayerHarnessTest, ARefusalIsReturned) {
  EXPECT_THAT(
      std::string(Refusal(std::make_shared<ScaleLayer>(1.0f, 1.0f), {{{2, 3}}})
                      .message()),
      testing::HasSubstr("[2, 3]"));
}

}  // namespace
}  // namespace footprint
