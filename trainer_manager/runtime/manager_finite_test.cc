// Tests training with NaN and infinity, and with data that was never set. No
// weight must take such values.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/layers/activations.h"
#include "footprint/trainer_manager/layers/fully_connected.h"
#include "footprint/trainer_manager/layers/losses.h"
#include "footprint/trainer_manager/layers/normalization.h"
#include "footprint/trainer_manager/layers/optimizer.h"
#include "footprint/trainer_manager/networks/network.h"
#include "footprint/trainer_manager/networks/reference_networks.h"
#include "footprint/trainer_manager/parameters/parameters.h"
#include "footprint/trainer_manager/runtime/manager.h"
#include "footprint/trainer_manager/runtime/plan_execution.h"
#include "footprint/trainer_manager/runtime/training_harness.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::string FormatStatus(const absl::Status& status) {
  return std::string(status.message());
}

bool AreFinite(const std::vector<float>& values) {
  for (const float value : values) {
    if (!std::isfinite(value)) return false;
  }
  return true;
}

// Returns a network for two rows of three, with `activation` between its
// layers.
Network TwoLayers(LayerPointer activation) {
  Network network;
  network.AddInput("x", {{2, 3}});
  network.AddLayer("fc1", FullyConnected(4), {"x"});
  network.AddLayer("between", std::move(activation), {"fc1"});
  network.AddLayer("fc2", FullyConnected(1), {"between"});
  network.AddLayer("loss", MeanSquaredError(), {"fc2"});
  return network;
}

absl::StatusOr<float> StepOn(Manager* manager, const std::vector<float>& rows,
                             const std::vector<float>& labels = {1, 1}) {
  EXPECT_THAT(manager->SetInput(0, rows), IsOk());
  EXPECT_THAT(manager->SetLabel(labels), IsOk());
  return manager->TrainStep();
}

TEST(ManagerFiniteTest, DataThatWasNeverSetIsRefused) {
  Training training = Train(TwoLayers(Tanh()));
  const std::vector<float> before = AllParameters(*training.parameters);
  absl::Status status = training.manager->TrainStep().status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(FormatStatus(status), HasSubstr("input 0 was never set"));
  ASSERT_THAT(training.manager->SetInput(0, std::vector<float>(6)), IsOk());
  status = training.manager->TrainStep().status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(FormatStatus(status), HasSubstr("label 0 was never set"));
  // A label that is refused is not set.
  EXPECT_THAT(training.manager->SetLabel(std::vector<float>(3)), Not(IsOk()));
  EXPECT_THAT(training.manager->TrainStep(), Not(IsOk()));
  EXPECT_EQ(AllParameters(*training.parameters), before);
  EXPECT_THAT(training.manager->LabelValues(), IsOk());
  EXPECT_THAT(training.manager->TrainStep(), IsOk());
  EXPECT_THAT(training.manager->TrainStep(), IsOk());
}

// The loss is finite, the gradients are NaN.
TEST(ManagerFiniteTest, AnInfinityThatTanhSwallowsIsRefused) {
  for (const int64_t parts : {1, 2}) {
    MemoryOptions memory;
    memory.micro_batches = parts;
    Training training = Train(TwoLayers(Tanh()), memory);
    const std::vector<float> before = AllParameters(*training.parameters);
    const auto loss =
        StepOn(training.manager.get(), {0, 1, 2, 3, kInfinity, 5});
    EXPECT_THAT(loss, StatusIs(absl::StatusCode::kOutOfRange));
    EXPECT_THAT(FormatStatus(loss.status()),
                HasSubstr("layer \"fc1\", forward: input 0 is inf at index 4 "
                          "of the batch"));
    EXPECT_EQ(AllParameters(*training.parameters), before);
    EXPECT_THAT(StepOn(training.manager.get(), {0, 1, 2, 3, 4, 5}), IsOk());
  }
}

// Poisoned bytes are NaN. The error names the layer that wrote one, not the one
// that read it.
TEST(ManagerFiniteTest, AnOutputThatIsNotFiniteIsItsOwnLayersWherePoisoned) {
  ManagerOptions options;
  options.poison = true;
  Training training = Train(TwoLayers(Tanh()), {}, options);
  const float large = std::numeric_limits<float>::max();
  const auto loss = StepOn(training.manager.get(),
                           {large, -large, large, large, -large, large});
  EXPECT_THAT(loss, Not(IsOk()));
  EXPECT_THAT(FormatStatus(loss.status()),
              HasSubstr("layer \"fc1\", forward: output 0 is "));
}

TEST(ManagerFiniteTest, ALabelThatIsNotFiniteIsRefused) {
  Training training = Train(TwoLayers(Tanh()));
  const auto loss =
      StepOn(training.manager.get(), std::vector<float>(6), {0, NAN});
  EXPECT_THAT(FormatStatus(loss.status()),
              HasSubstr("layer \"loss\", forward: label 0 is nan at index 1"));
}

// Returns inputs of 3e38, which weights of 1e-38 make small: everything is
// finite except the first layer's gradient.
std::vector<float> LargeRows(Training* training) {
  const absl::Span<float> weights = *training->parameters->Find("fc1.weight");
  std::fill(weights.begin(), weights.end(), 1e-38f);
  return {3e38f, 0, 0, 3e38f, 0, 0};
}

TEST(ManagerFiniteTest, AGradientThatIsNotFiniteIsNotApplied) {
  Training training = Train(TwoLayers(Sigmoid()));
  const std::vector<float> rows = LargeRows(&training);
  const auto values_of = [&](const char* name) {
    const absl::Span<float> values = *training.parameters->Find(name);
    return std::vector<float>(values.begin(), values.end());
  };
  const std::vector<float> first = values_of("fc1.weight");
  const std::vector<float> last = values_of("fc2.weight");
  const auto loss = StepOn(training.manager.get(), rows, {1e3f, 1e3f});
  EXPECT_THAT(loss, StatusIs(absl::StatusCode::kOutOfRange));
  EXPECT_THAT(FormatStatus(loss.status()),
              AllOf(HasSubstr("layer \"fc1\", apply gradient: gradient 0 is "),
                    HasSubstr("inf at index 0"),
                    HasSubstr("the weights of \"fc2\" have changed already"),
                    HasSubstr("MemoryOptions::atomic_steps")));
  EXPECT_EQ(values_of("fc1.weight"), first);
  EXPECT_NE(values_of("fc2.weight"), last);
  EXPECT_TRUE(AreFinite(AllParameters(*training.parameters)));
}

// Clipping by value would turn infinity into a finite value.
TEST(ManagerFiniteTest, ClippingByValueHidesNoInfinity) {
  ManagerOptions options;
  options.clip_value = 1;
  Training training = Train(TwoLayers(Sigmoid()), {}, options);
  const std::vector<float> rows = LargeRows(&training);
  EXPECT_THAT(
      FormatStatus(StepOn(training.manager.get(), rows, {1e3f, 1e3f}).status()),
      HasSubstr("gradient 0 is "));
}

TEST(ManagerFiniteTest, AStepThatChangesAllOrNothingChangesNothing) {
  for (const std::string kind : {"atomic", "norm", "parts", "debug"}) {
    for (const bool poison : {false, true}) {
      MemoryOptions memory;
      if (kind == "debug") memory = MemoryOptions::Debug();
      memory.atomic_steps = kind == "atomic";
      memory.clip_global_norm = kind == "norm";
      memory.micro_batches = kind == "parts" ? 2 : 1;
      ManagerOptions options;
      options.poison = poison;
      options.clip_value = 1e6f;
      options.optimizer = Adam(0.01f);
      Training training = Train(TwoLayers(Sigmoid()), memory, options);
      const std::vector<float> small = {1, 2, 3, 4, 5, 6};
      ASSERT_THAT(StepOn(training.manager.get(), small), IsOk());
      const std::vector<float> rows = LargeRows(&training);
      const std::vector<float> before = AllParameters(*training.parameters);
      const absl::Status status =
          StepOn(training.manager.get(), rows, {1e3f, 1e3f}).status();
      EXPECT_THAT(status, StatusIs(absl::StatusCode::kOutOfRange)) << kind;
      EXPECT_THAT(FormatStatus(status), AllOf(HasSubstr("layer \"fc1\", "),
                                              Not(HasSubstr("have changed"))))
          << kind;
      EXPECT_EQ(AllParameters(*training.parameters), before) << kind;
      ASSERT_THAT(StepOn(training.manager.get(), small), IsOk());
      // The refused step must leave no trace.
      Training other = Train(TwoLayers(Sigmoid()), memory, options);
      ASSERT_THAT(StepOn(other.manager.get(), small), IsOk());
      LargeRows(&other);
      ASSERT_THAT(StepOn(other.manager.get(), small), IsOk());
      EXPECT_EQ(AllParameters(*training.parameters),
                AllParameters(*other.parameters))
          << kind;
    }
  }
}

// The gradient is finite, but the updated weight would not be.
TEST(ManagerFiniteTest, AnUpdateThatIsNotFiniteIsNotApplied) {
  for (const OptimizerPointer& optimizer :
       {StochasticGradientDescent(3e38f), Momentum(3e38f),
        Adam(0.01f, 0.9f, 0.999f, /*epsilon=*/0)}) {
    ManagerOptions options;
    options.optimizer = optimizer;
    MemoryOptions memory;
    memory.atomic_steps = true;
    Training training = Train(TwoLayers(Relu()), memory, options);
    const std::vector<float> before = AllParameters(*training.parameters);
    // Inputs of 0: Adam without epsilon divides 0 by 0.
    const absl::Status status =
        StepOn(training.manager.get(), std::vector<float>(6), {100, 100})
            .status();
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kOutOfRange));
    EXPECT_THAT(FormatStatus(status),
                HasSubstr("is finite, but would make a weight or what the "
                          "optimizer remembers of it NaN or infinite"));
    EXPECT_EQ(AllParameters(*training.parameters), before);
  }
}

// The variance of 1e30 and -1e30 is infinite, and the normalized value is 0.
TEST(ManagerFiniteTest, ARunningStatisticThatIsNotFiniteIsRefused) {
  Network network;
  network.AddInput("x", {{2, 1}});
  network.AddLayer("norm", BatchNormalization(), {"x"});
  network.AddLayer("fc", FullyConnected(1), {"norm"});
  network.AddLayer("loss", MeanSquaredError(), {"fc"});
  for (const bool atomic : {false, true}) {
    MemoryOptions memory;
    memory.atomic_steps = atomic;
    Training training = Train(network, memory);
    const std::vector<float> before = AllParameters(*training.parameters);
    const absl::Status status =
        StepOn(training.manager.get(), {1e30f, -1e30f}).status();
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kOutOfRange));
    EXPECT_THAT(FormatStatus(status),
                HasSubstr("layer \"norm\", forward: statistic"));
    EXPECT_EQ(AllParameters(*training.parameters), before);
    EXPECT_THAT(StepOn(training.manager.get(), {1, -1}), IsOk());
  }
}

// Statistics change before the gradients are known.
TEST(ManagerFiniteTest, AnAtomicStepRestoresStatisticsToo) {
  Network network;
  network.AddInput("x", {{2, 3}});
  network.AddLayer("fc1", FullyConnected(4), {"x"});
  network.AddLayer("norm", BatchNormalization(), {"fc1"});
  network.AddLayer("fc2", FullyConnected(1), {"norm"});
  network.AddLayer("loss", MeanSquaredError(), {"fc2"});
  for (const bool atomic : {false, true}) {
    MemoryOptions memory;
    memory.atomic_steps = atomic;
    Training training = Train(network, memory);
    LargeRows(&training);
    const std::vector<float> before = AllParameters(*training.parameters);
    const absl::Status status =
        StepOn(training.manager.get(), {3e38f, 0, 0, 0, 3e38f, 0},
               {1e9f, -1e9f})
            .status();
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kOutOfRange));
    EXPECT_EQ(AllParameters(*training.parameters) == before, atomic) << status;
  }
}

// The forward steps run again to find the layer, from the original statistics.
TEST(ManagerFiniteTest, ALossThatIsNotFiniteLeavesStatisticsAsTheyWere) {
  Network network;
  network.AddInput("x", {{2, 3}});
  network.AddLayer("norm", BatchNormalization(), {"x"});
  network.AddLayer("fc", FullyConnected(1), {"norm"});
  network.AddLayer("loss", MeanSquaredError(), {"fc"});
  Training training = Train(network);
  const std::vector<float> rows = {1, 2, 3, 6, 5, 4};
  ASSERT_THAT(StepOn(training.manager.get(), rows), IsOk());
  const std::vector<float> before = AllParameters(*training.parameters);
  const absl::Status status =
      StepOn(training.manager.get(), rows, {1e30f, 1}).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kOutOfRange));
  EXPECT_THAT(FormatStatus(status), HasSubstr("the loss is inf"));
  EXPECT_EQ(AllParameters(*training.parameters), before);
}

// The caller set weights to NaN or infinity, or the inputs are large.
TEST(ManagerFiniteTest, AnInferenceThatIsNotFiniteNamesTheFirstLayer) {
  Network network;
  network.AddInput("x", {{2, 3}});
  network.AddLayer("fc1", FullyConnected(4), {"x"});
  network.AddLayer("between", Relu(), {"fc1"});
  network.AddLayer("fc2", FullyConnected(1), {"between"});
  const auto plan = PlanExecution(network, NetworkMode::kInference, {});
  ASSERT_THAT(plan, IsOk());
  const std::vector<float> small = {1, 2, 3, 4, 5, 6};
  const std::vector<float> large(6, 1e30f);
  const std::vector<float> damaged = {1, 2, 3, 4, kInfinity, 6};
  for (const bool retain : {false, true}) {
    const auto parameters = *Parameters::Create(*plan, 1);
    ManagerOptions options;
    options.retain_arena = retain;
    const auto manager = *Manager::Create(*plan, parameters, options);
    const auto text = [&](const std::vector<float>& rows) {
      const absl::Status status = manager->Infer({absl::MakeConstSpan(rows)});
      EXPECT_THAT(status, StatusIs(absl::StatusCode::kOutOfRange));
      return FormatStatus(status);
    };
    ASSERT_THAT(manager->Infer({absl::MakeConstSpan(small)}), IsOk());
    EXPECT_THAT(text(damaged),
                AllOf(HasSubstr("output 0 is "),
                      HasSubstr("; first in layer \"fc1\", forward: input 0 "
                                "is inf at index 4")));
    const absl::Span<float> weights = *parameters->Find("fc1.weight");
    std::fill(weights.begin(), weights.end(), 1e30f);
    EXPECT_THAT(text(large), HasSubstr("; first in layer \"fc1\", forward: "
                                       "output 0 is inf at index 0"));
    std::fill(weights.begin(), weights.end(), 1);
    (*parameters->Find("fc2.bias"))[0] = NAN;
    EXPECT_THAT(text(small),
                AllOf(HasSubstr("output 0 is nan at index 0; first in layer "
                                "\"fc2\", forward: weight 1 is nan")));
    (*parameters->Find("fc2.bias"))[0] = 0;
    ASSERT_THAT(manager->Infer({absl::MakeConstSpan(small)}), IsOk());
  }
}

// The network has a second head, which the loss does not read.
TEST(ManagerFiniteTest, AnEvaluationLooksAtEveryOutput) {
  Network network;
  network.AddInput("x", {{2, 3}});
  network.AddLayer("fc", FullyConnected(1), {"x"});
  network.AddLayer("other", FullyConnected(1), {"x"});
  network.AddLayer("loss", MeanSquaredError(), {"fc"});
  MemoryOptions memory;
  memory.keep_loss = true;
  const auto plan = PlanExecution(network, NetworkMode::kInference, memory);
  ASSERT_THAT(plan, IsOk());
  const auto parameters = *Parameters::Create(*plan, 1);
  const auto manager = *Manager::Create(*plan, parameters, {});
  const std::vector<float> rows = {1, 2, 3, 4, 5, 6};
  const std::vector<float> labels = {1, 1};
  const auto evaluate = [&] {
    return manager->Evaluate({absl::MakeConstSpan(rows)},
                             absl::MakeConstSpan(labels));
  };
  ASSERT_THAT(evaluate(), IsOk());
  (*parameters->Find("other.bias"))[0] = NAN;
  const absl::Status status = evaluate().status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kOutOfRange));
  EXPECT_THAT(FormatStatus(status), HasSubstr("; first in layer \"other\""));
}

// An optimizer that makes one weight, or its state, not finite in step 2.
class ExplodingOptimizer final : public Optimizer {
 public:
  explicit ExplodingOptimizer(bool in_state) : in_state_(in_state) {}
  int states_per_weight() const override { return 1; }
  void Apply(int64_t iteration, int64_t elements, const float* gradient,
             float* weight, absl::Span<float* const> states) const override {
    for (int64_t i = 0; i < elements; ++i) weight[i] -= 0.01f * gradient[i];
    if (iteration < 2) return;
    (in_state_ ? states[0] : weight)[elements - 1] =
        in_state_ ? kInfinity : NAN;
  }

 private:
  const bool in_state_;
};

TEST(ManagerFiniteTest, AnOwnOptimizerThatMakesAWeightNotFiniteIsNamed) {
  for (const bool in_state : {false, true}) {
    for (const bool atomic : {false, true}) {
      MemoryOptions memory;
      memory.atomic_steps = atomic;
      ManagerOptions options;
      options.optimizer = std::make_shared<ExplodingOptimizer>(in_state);
      Training training = Train(TwoLayers(Tanh()), memory, options);
      const std::vector<float> rows = {1, 2, 3, 4, 5, 6};
      ASSERT_THAT(StepOn(training.manager.get(), rows), IsOk());
      const absl::Status status = StepOn(training.manager.get(), rows).status();
      EXPECT_THAT(status, StatusIs(absl::StatusCode::kOutOfRange));
      EXPECT_THAT(
          FormatStatus(status),
          AllOf(HasSubstr("apply gradient: the optimizer made "),
                HasSubstr(in_state ? "a state of weight 0 inf at index 3"
                                   : "weight 0 nan at index 3"),
                HasSubstr("override StaysFinite"),
                HasSubstr("the weights of \"fc2\" have changed already")));
      // The message must not recommend atomic steps if the plan has them
      // already.
      EXPECT_EQ(FormatStatus(status).find("MemoryOptions::atomic_steps") ==
                    std::string::npos,
                atomic);
    }
  }
}

}  // namespace
}  // namespace footprint
