// The example of layers/README.md: a layer of one's own, checked and trained.

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/layers/fully_connected.h"
#include "footprint/trainer_manager/layers/layer.h"
#include "footprint/trainer_manager/layers/layer_harness.h"
#include "footprint/trainer_manager/layers/losses.h"
#include "footprint/trainer_manager/layers/optimizer.h"
#include "footprint/trainer_manager/networks/network.h"
#include "footprint/trainer_manager/parameters/parameters.h"
#include "footprint/trainer_manager/runtime/manager.h"
#include "footprint/trainer_manager/runtime/plan_execution.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

// region layer
// Multiplies each feature by a factor that is trained.
class FeatureScale final : public Layer {
 public:
  absl::string_view type() const override { return "feature scale"; }

  // Declares the output, the weights, and what each step reads and writes. The
  // planner places tensors by that, so a step gets nothing else.
  absl::StatusOr<LayerSignature> Describe(
      const LayerInputs& inputs) const override {
    const absl::Status status = CheckOneFloatInput(inputs, 2, 2);
    if (!status.ok()) return status;
    LayerSignature signature;
    signature.output = inputs.inputs[0];
    signature.weights = {
        {"factors", {{signature.output.shape.extent(1)}}, Initializer::kOnes}};
    signature.forward.reads = {{Role::kInput}, {Role::kWeight}};
    signature.forward.writes = {{Role::kOutput}};
    signature.gradient.reads = {{Role::kInput}, {Role::kOutputDerivative}};
    signature.gradient.writes = {{Role::kGradient}};
    signature.derivative.reads = {{Role::kWeight}, {Role::kOutputDerivative}};
    signature.derivative.writes = {{Role::kInputDerivative}};
    return signature;
  }

  absl::Status Forward(const StepData& data) const override {
    const int64_t features = data.elements(Role::kWeight);
    for (int64_t i = 0; i < data.elements(Role::kInput); ++i) {
      data.Write(Role::kOutput)[i] =
          data.Read(Role::kInput)[i] * data.Read(Role::kWeight)[i % features];
    }
    return absl::OkStatus();
  }

  // The gradient is the sum over the batch. The step writes all of it, since
  // its memory held another tensor before.
  void CalculateGradient(const StepData& data) const override {
    const int64_t features = data.elements(Role::kGradient);
    for (int64_t f = 0; f < features; ++f) {
      float sum = 0;
      for (int64_t i = f; i < data.elements(Role::kInput); i += features) {
        sum +=
            data.Read(Role::kInput)[i] * data.Read(Role::kOutputDerivative)[i];
      }
      data.Write(Role::kGradient)[f] = sum;
    }
  }

  void CalculateDerivative(const StepData& data) const override {
    const int64_t features = data.elements(Role::kWeight);
    for (int64_t i = 0; i < data.elements(Role::kInputDerivative); ++i) {
      data.Write(Role::kInputDerivative)[i] =
          data.Read(Role::kOutputDerivative)[i] *
          data.Read(Role::kWeight)[i % features];
    }
  }
};
// endregion

// region check
TEST(FeatureScaleTest, AgreesWithDifferences) {
  LayerHarness harness(std::make_shared<FeatureScale>(), {{{4, 3}}});
  EXPECT_LT(harness.WorstGradientError(), 1e-3);
  EXPECT_LT(harness.WorstDerivativeError(), 1e-3);
}

TEST(FeatureScaleTest, RefusesImages) {
  EXPECT_THAT(Refusal(std::make_shared<FeatureScale>(), {{{4, 3, 8, 8}}}),
              StatusIs(absl::StatusCode::kInvalidArgument));
}
// endregion

// region train
// Trains with poison: each step gets NaN where it has not written.
absl::StatusOr<float> TrainScale(int64_t steps) {
  Network network;
  network.AddInput("rows", {{4, 2}});
  network.AddLayer("scale", std::make_shared<FeatureScale>(), {"rows"});
  network.AddLayer("head", FullyConnected(1), {"scale"});
  network.AddLayer("loss", MeanSquaredError(), {"head"});
  const auto plan = PlanExecution(network, NetworkMode::kTraining, {});
  if (!plan.ok()) return plan.status();
  const auto parameters = Parameters::Create(*plan, /*seed=*/1);
  if (!parameters.ok()) return parameters.status();
  ManagerOptions options;
  options.optimizer = StochasticGradientDescent(0.1f);
  options.poison = true;
  const auto manager = Manager::Create(*plan, *parameters, options);
  if (!manager.ok()) return manager.status();
  absl::StatusOr<float> loss = 0.0f;
  for (int64_t step = 0; step < steps && loss.ok(); ++step) {
    absl::Status status =
        (*manager)->SetInput(0, std::vector<float>{0, 0, 0, 1, 1, 0, 1, 1});
    status.Update((*manager)->SetLabel(std::vector<float>{0, 2, 1, 3}));
    if (!status.ok()) return status;
    loss = (*manager)->TrainStep();
  }
  return loss;
}
// endregion

TEST(FeatureScaleTest, Learns) {
  const absl::StatusOr<float> loss = TrainScale(500);
  ASSERT_THAT(loss, IsOk());
  EXPECT_LT(*loss, 1e-3f);
}

}  // namespace
}  // namespace footprint
