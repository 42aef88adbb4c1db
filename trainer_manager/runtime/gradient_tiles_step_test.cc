#include "footprint/trainer_manager/runtime/gradient_tiles_step.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/base/random/random_sequence.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/execution/execution_types.h"
#include "footprint/trainer_manager/execution/refused_budget.h"
#include "footprint/trainer_manager/layers/activations.h"
#include "footprint/trainer_manager/layers/fully_connected.h"
#include "footprint/trainer_manager/layers/losses.h"
#include "footprint/trainer_manager/layers/optimizer.h"
#include "footprint/trainer_manager/layers/structure_layers.h"
#include "footprint/trainer_manager/math/highway_backend.h"
#include "footprint/trainer_manager/networks/network.h"
#include "footprint/trainer_manager/networks/parameter_group.h"
#include "footprint/trainer_manager/parameters/parameters.h"
#include "footprint/trainer_manager/runtime/manager.h"
#include "footprint/trainer_manager/runtime/plan_execution.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Wide layers over few rows, so that gradients are larger than outputs.
Network MakeNetwork() {
  Network network;
  network.AddInput("rows", {{4, 150}});
  network.AddLayer("first", FullyConnected(500), {"rows"});
  network.AddLayer("relu", Relu(), {"first"});
  network.AddLayer("second", FullyConnected(130, /*bias=*/false), {"relu"});
  network.AddLayer("third", FullyConnected(700), {"second"});
  network.AddLayer("loss", MeanSquaredError(), {"third"});
  return network;
}

int CountTiled(const ExecutionPlan& plan) {
  return static_cast<int>(std::count_if(
      plan.steps.begin(), plan.steps.end(), [](const PlannedStep& step) {
        return step.kind == StepKind::kApplyGradientTiles;
      }));
}

// Plans the network in the least budget.
ExecutionPlan PlanInLeast(const Network& network, int states,
                          const MathBackend& math = HighwayBackend()) {
  MemoryOptions options;
  options.budget_bytes = 1;
  const auto plan = [&] {
    return PlanExecution(network, NetworkMode::kTraining, options, states,
                         math);
  };
  options.budget_bytes = LeastBudgetNamed(plan().status());
  const auto planned = plan();
  EXPECT_THAT(planned, IsOk());
  return *planned;
}

// Trains three steps and returns the losses and the parameters.
std::vector<float> Train(const ExecutionPlan& plan,
                         const ManagerOptions& options) {
  const auto parameters = *Parameters::Create(plan, 3);
  const auto manager = Manager::Create(plan, parameters, options);
  EXPECT_THAT(manager, IsOk());
  RandomSequence random(8);
  std::vector<float> values;
  for (int step = 0; step < 3; ++step) {
    for (const auto& values :
         {(*manager)->InputValues(0), (*manager)->LabelValues()}) {
      for (float& value : *values) value = random.SignedUnit();
    }
    const auto loss = (*manager)->TrainStep();
    EXPECT_THAT(loss, IsOk());
    values.push_back(loss.value_or(-1));
  }
  for (const Parameters::Parameter& parameter : parameters->all()) {
    values.insert(values.end(), parameter.values.begin(),
                  parameter.values.end());
  }
  return values;
}

TEST(GradientTilesStepTest, TilesHaveTheBitsOfWholeGradients) {
  Network grouped = MakeNetwork();
  ParameterGroup slow;
  slow.pattern = "third.*";
  slow.rate_factor = 0.25f;
  grouped.AddGroup(slow);
  ManagerOptions cut;
  cut.clip_value = 0.001f;
  ManagerOptions poisoned;
  poisoned.poison = true;
  const auto team = MakeTeamBackend(2);
  for (const OptimizerPointer& optimizer :
       {StochasticGradientDescent(0.1f), Momentum(0.1f, 0.9f), Adam(0.01f),
        AdamW(0.01f)}) {
    const int states = optimizer->states_per_weight();
    for (ManagerOptions options : {ManagerOptions(), cut, poisoned}) {
      options.optimizer = optimizer;
      for (const Network& network : {MakeNetwork(), grouped}) {
        const auto whole =
            PlanExecution(network, NetworkMode::kTraining, {}, states);
        ASSERT_THAT(whole, IsOk());
        EXPECT_EQ(CountTiled(*whole), 0);
        const std::vector<float> expected = Train(*whole, options);
        for (const MathBackend* math : {&HighwayBackend(), team.get()}) {
          const ExecutionPlan tiled = PlanInLeast(network, states, *math);
          EXPECT_GT(CountTiled(tiled), 0);
          EXPECT_LT(tiled.planned_bytes(), whole->planned_bytes() - 100'000);
          EXPECT_EQ(Train(tiled, options), expected);
        }
      }
    }
  }
}

TEST(GradientTilesStepTest, WithoutTheOptionTheLeastBudgetIsLarger) {
  MemoryOptions options;
  options.budget_bytes = 1;
  options.tile_gradients = false;
  const auto refused =
      PlanExecution(MakeNetwork(), NetworkMode::kTraining, options);
  EXPECT_GT(LeastBudgetNamed(refused.status()),
            PlanInLeast(MakeNetwork(), 0).planned_bytes() + 100'000);
}

// Both gradients need equally much, so one alone lowers nothing.
TEST(GradientTilesStepTest, EqualLayersSideBySideHaveTiles) {
  Network network;
  network.AddInput("rows", {{4, 300}});
  network.AddLayer("left", FullyConnected(300), {"rows"});
  network.AddLayer("right", FullyConnected(300), {"rows"});
  network.AddLayer("sum", Add(), {"left", "right"});
  network.AddLayer("loss", MeanSquaredError(), {"sum"});
  EXPECT_EQ(CountTiled(PlanInLeast(network, 0)), 2);
}

TEST(GradientTilesStepTest, ALongChainOfEqualLayersHasTilesInEach) {
  constexpr int kLayers = 40;
  Network network;
  network.AddInput("x", {{4, 256}});
  std::string last = "x";
  for (int layer = 0; layer < kLayers; ++layer) {
    const std::string name = absl::StrCat("fc", layer);
    network.AddLayer(name, FullyConnected(256), {last});
    last = name;
  }
  network.AddLayer("loss", MeanSquaredError(), {last});
  EXPECT_EQ(CountTiled(PlanInLeast(network, 0)), kLayers);
}

// An optimizer that needs whole weights, since it is not elementwise.
class Whole final : public Optimizer {
 public:
  int states_per_weight() const override { return 0; }
  void Apply(int64_t, int64_t elements, const float* gradient, float* weight,
             absl::Span<float* const>) const override {
    for (int64_t i = 0; i < elements; ++i) weight[i] -= gradient[i];
  }
};

TEST(GradientTilesStepTest, AnOptimizerOfWholeWeightsIsRefused) {
  const ExecutionPlan plan = PlanInLeast(MakeNetwork(), 0);
  ManagerOptions options;
  options.optimizer = std::make_shared<Whole>();
  EXPECT_THAT(Manager::Create(plan, *Parameters::Create(plan, 1), options),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("MemoryOptions::tile_gradients")));
}

// The same, but of the name of an optimizer that treats each element alone.
class WholeSgd final : public Optimizer {
 public:
  absl::string_view name() const override { return sgd_->name(); }
  int states_per_weight() const override { return 0; }
  void Apply(int64_t iteration, int64_t elements, const float* gradient,
             float* weight, absl::Span<float* const> states) const override {
    sgd_->Apply(iteration, elements, gradient, weight, states);
  }

 private:
  const OptimizerPointer sgd_ = StochasticGradientDescent(0.1f);
};

TEST(GradientTilesStepTest, NorMayAnOptimizerOfWholeWeightsReplaceAnother) {
  const auto replace = [](const ExecutionPlan& plan) {
    ManagerOptions options;
    options.optimizer = StochasticGradientDescent(0.1f);
    const auto manager =
        Manager::Create(plan, *Parameters::Create(plan, 1), options);
    EXPECT_THAT(manager, IsOk());
    return (*manager)->ReplaceOptimizer(std::make_shared<WholeSgd>());
  };
  EXPECT_THAT(replace(PlanInLeast(MakeNetwork(), 0)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("MemoryOptions::tile_gradients")));
  EXPECT_THAT(
      replace(*PlanExecution(MakeNetwork(), NetworkMode::kTraining, {})),
      IsOk());
}

// The label makes the last layer's gradient infinite, after its derivative.
TEST(GradientTilesStepTest, AGradientThatIsNotFiniteNamesItsRows) {
  const ExecutionPlan plan = PlanInLeast(MakeNetwork(), 0);
  const auto parameters = *Parameters::Create(plan, 1);
  ManagerOptions options;
  options.optimizer = StochasticGradientDescent(0.1f);
  const auto manager = Manager::Create(plan, parameters, options);
  ASSERT_THAT(manager, IsOk());
  const auto inputs = (*manager)->InputValues(0);
  const auto labels = (*manager)->LabelValues();
  std::fill(inputs->begin(), inputs->end(), 1e38f);
  std::fill(labels->begin(), labels->end(), 0.0f);
  const auto weights = parameters->Find("first.weight");
  std::fill(weights->begin(), weights->end(), 0.0f);
  const auto bias = parameters->Find("first.bias");
  std::fill(bias->begin(), bias->end(), 1e4f);
  const absl::Status status = (*manager)->TrainStep().status();
  EXPECT_THAT(status,
              StatusIs(absl::StatusCode::kOutOfRange,
                       AllOf(HasSubstr("layer \"first\""),
                             HasSubstr("rows 0 to "), HasSubstr("by tiles"))));
}

}  // namespace
}  // namespace footprint
