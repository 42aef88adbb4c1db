#include "footprint/trainer_manager/runtime/faulty_layers.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/execution/execution_types.h"
#include "footprint/trainer_manager/layers/activations.h"
#include "footprint/trainer_manager/layers/fully_connected.h"
#include "footprint/trainer_manager/layers/layer.h"
#include "footprint/trainer_manager/layers/layer_harness.h"
#include "footprint/trainer_manager/layers/losses.h"
#include "footprint/trainer_manager/layers/optimizer.h"
#include "footprint/trainer_manager/networks/network.h"
#include "footprint/trainer_manager/parameters/parameters.h"
#include "footprint/trainer_manager/runtime/manager.h"
#include "footprint/trainer_manager/runtime/manager_options.h"
#include "footprint/trainer_manager/runtime/plan_execution.h"
#include "footprint/trainer_manager/runtime/training_harness.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::HasSubstr;

Network WithLayer(LayerPointer layer) {
  Network network;
  network.AddInput("x", {{4, 5}});
  network.AddLayer("fc1", FullyConnected(8), {"x"});
  network.AddLayer("bad", std::move(layer), {"fc1"});
  network.AddLayer("tanh", Tanh(), {"bad"});
  network.AddLayer("fc2", FullyConnected(8), {"tanh"});
  network.AddLayer("relu", Relu(), {"fc2"});
  network.AddLayer("fc3", FullyConnected(1), {"relu"});
  network.AddLayer("loss", MeanSquaredError(), {"fc3"});
  return network;
}

// Returns the smallest budget that PlanExecution meets, for which the layers
// are calculated again.
MemoryOptions TightestBudget(const Network& network) {
  MemoryOptions memory;
  auto plan = PlanExecution(network, NetworkMode::kTraining, memory);
  EXPECT_THAT(plan, IsOk());
  while (plan.ok()) {
    memory.budget_bytes = plan->planned_bytes();
    MemoryOptions smaller = memory;
    --smaller.budget_bytes;
    plan = PlanExecution(network, NetworkMode::kTraining, smaller);
  }
  return memory;
}

int64_t Recomputations(const ExecutionPlan& plan) {
  return std::count_if(plan.steps.begin(), plan.steps.end(),
                       [&plan](const PlannedStep& step) {
                         return step.kind == StepKind::kRecompute &&
                                plan.network->layers[step.layer].name == "bad";
                       });
}

bool AreFinite(const Parameters& parameters) {
  const std::vector<float> values = AllParameters(parameters);
  return std::all_of(values.begin(), values.end(),
                     [](float value) { return std::isfinite(value); });
}

// Trains eight steps or until one is refused, and returns its error. Fails the
// test if a step leaves a weight that is not finite, unless `may_spoil`.
absl::Status TrainSteps(const Training& training, bool may_spoil = false) {
  for (uint64_t i = 0; i < 8; ++i) {
    EXPECT_THAT(training.manager->SetInput(0, RandomValues(20, 2 * i)), IsOk());
    EXPECT_THAT(training.manager->SetLabel(RandomValues(4, 2 * i + 1)), IsOk());
    const absl::Status status = training.manager->TrainStep().status();
    EXPECT_TRUE(may_spoil || AreFinite(*training.parameters)) << i;
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status TrainPoisoned(LayerPointer layer, const MemoryOptions& memory) {
  ManagerOptions options;
  options.poison = true;
  return TrainSteps(Train(WithLayer(std::move(layer)), memory, options));
}

MATCHER_P2(Refuses, code, text, "") {
  *result_listener << arg;
  const std::string message(arg.message());
  return arg.code() == code && message.find(text) != std::string::npos;
}

// The refusals of the other tests follow from the faults.
TEST(FaultyLayersTest, TheRightLayerIsAccepted) {
  const MemoryOptions tightest = TightestBudget(WithLayer(RightLayer()));
  for (const MemoryOptions& memory :
       {MemoryOptions::Debug(), MemoryOptions(), tightest}) {
    EXPECT_THAT(TrainPoisoned(RightLayer(), memory), IsOk());
  }
  EXPECT_GT(Recomputations(Train(WithLayer(RightLayer()), tightest).plan), 1);
  LayerHarness harness(RightLayer(), {{{3, 4}}});
  EXPECT_LT(harness.WorstGradientError(), 1e-2);
  EXPECT_LT(harness.WorstDerivativeError(), 1e-2);
}

TEST(FaultyLayersTest, PoisonedTrainingNamesTheLayerAndTheStep) {
  const struct {
    LayerPointer layer;
    absl::StatusCode code;
    const char* message;
    bool in_debug_mode;  // whether the fault has an effect there
  } kFaults[] = {
      {UnfinishedOutputLayer(), absl::StatusCode::kOutOfRange,
       "layer \"bad\", forward: output 0 is nan at index 24", true},
      {SquareRootLayer(), absl::StatusCode::kOutOfRange,
       "layer \"bad\", forward: output 0 is nan", true},
      {AccumulatingLayer(), absl::StatusCode::kOutOfRange,
       "layer \"bad\", calculate gradient: gradient 0 is nan", true},
      {DirtyWorkspaceLayer(), absl::StatusCode::kOutOfRange,
       "layer \"bad\", calculate gradient: gradient 0 is nan", true},
      // Debug mode keeps the input.
      {StalePointerLayer(), absl::StatusCode::kOutOfRange,
       "layer \"bad\", calculate gradient: gradient 0 is nan", false},
      // Debug mode calculates nothing again.
      {OtherRecomputeLayer(), absl::StatusCode::kInvalidArgument,
       "layer \"bad\", recompute: Recompute does not give the output", false},
      {InputWritingLayer(), absl::StatusCode::kInternal,
       "layer \"bad\", forward: the step changed", true},
  };
  for (const auto& fault : kFaults) {
    const MemoryOptions tightest = TightestBudget(WithLayer(fault.layer));
    EXPECT_THAT(TrainPoisoned(fault.layer, {}),
                Refuses(fault.code, fault.message));
    EXPECT_THAT(TrainPoisoned(fault.layer, tightest),
                Refuses(fault.code, fault.message));
    if (!fault.in_debug_mode) continue;
    EXPECT_THAT(TrainPoisoned(fault.layer, MemoryOptions::Debug()),
                Refuses(fault.code, fault.message));
  }
}

// A plain training finds it by the loss.
TEST(FaultyLayersTest, ALossThatIsNaNNamesTheLayer) {
  EXPECT_THAT(TrainSteps(Train(WithLayer(SquareRootLayer()))),
              Refuses(absl::StatusCode::kOutOfRange,
                      "the loss is nan; first in layer \"bad\", forward"));
}

// Returns whether a tensor that is written before the forward step of "bad" and
// read after it lies next to the end of the step's output.
bool OverrunHitsALiveTensor(const ExecutionPlan& plan) {
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    const PlannedStep& step = plan.steps[s];
    if (plan.network->layers[step.layer].name != "bad" ||
        (step.kind != StepKind::kForward &&
         step.kind != StepKind::kRecompute)) {
      continue;
    }
    for (const TensorUse& use : step.uses) {
      if (!use.written) continue;
      const int64_t end =
          plan.OffsetOfTensor(use.tensor) + plan.tensors[use.tensor].size_bytes;
      for (size_t i = 0; i < plan.storages.size(); ++i) {
        const Storage& other = plan.storages[i];
        const auto now = static_cast<int64_t>(s);
        if (other.storage_class == StorageClass::kArena &&
            plan.offsets_bytes[i] == end && other.lower_step < now &&
            now + 1 < other.upper_step) {
          return true;
        }
      }
    }
  }
  return false;
}

TEST(FaultyLayersTest, AnOverrunIsNamedIfItHitsATensor) {
  int hits = 0;
  for (int before = 0; before < 4; ++before) {
    Network network;
    network.AddInput("x", {{4, 5}});
    network.AddLayer("fc0", FullyConnected(8), {"x"});
    std::string last = "fc0";
    for (int i = 0; i < before; ++i) {
      const std::string name = "tanh" + std::to_string(i);
      network.AddLayer(name, Tanh(), {last});
      network.AddLayer("fc" + std::to_string(i + 1), FullyConnected(8), {name});
      last = "fc" + std::to_string(i + 1);
    }
    network.AddLayer("bad", OverrunningLayer(), {last});
    network.AddLayer("tanh", Tanh(), {"bad"});
    network.AddLayer("last", FullyConnected(1), {"tanh"});
    network.AddLayer("loss", MeanSquaredError(), {"last"});
    for (const MemoryOptions& memory :
         {MemoryOptions::Debug(), MemoryOptions(), TightestBudget(network)}) {
      ManagerOptions options;
      options.poison = true;
      const Training training = Train(network, memory, options);
      const absl::Status status = TrainSteps(training);
      if (!OverrunHitsALiveTensor(training.plan)) {
        EXPECT_THAT(status, IsOk());
        continue;
      }
      ++hits;
      EXPECT_THAT(status,
                  Refuses(absl::StatusCode::kInternal, "layer \"bad\", "));
      EXPECT_THAT(status,
                  Refuses(absl::StatusCode::kInternal, "the step changed"));
    }
  }
  EXPECT_GT(hits, 0);
}

TEST(FaultyLayersTest, PlanningRefusesWrongShapes) {
  const struct {
    WrongShape shape;
    absl::StatusCode code;
    const char* message;
  } kFaults[] = {
      {WrongShape::kNoExtents, absl::StatusCode::kInvalidArgument,
       "layer \"bad\": its output has no extents"},
      {WrongShape::kTooManyExtents, absl::StatusCode::kInvalidArgument,
       "layer \"bad\": shape [4, 1, 1, 1, 1, 8] has 6 extents"},
      {WrongShape::kZeroExtent, absl::StatusCode::kInvalidArgument,
       "layer \"bad\": shape [4, 0]: extent 0 of axis 1 is below 1"},
      {WrongShape::kOverflow, absl::StatusCode::kOutOfRange,
       "layer \"bad\": shape [4, 4611686018427387903] of F32"},
  };
  for (const auto& fault : kFaults) {
    for (const NetworkMode mode :
         {NetworkMode::kTraining, NetworkMode::kInference}) {
      EXPECT_THAT(
          PlanExecution(WithLayer(WrongShapeLayer(fault.shape)), mode, {})
              .status(),
          Refuses(fault.code, fault.message));
    }
  }
}

// A layer may change the number of rows, so only the label has too many.
TEST(FaultyLayersTest, ARowTooFewIsRefusedWithTheLabel) {
  const Training training =
      Train(WithLayer(WrongShapeLayer(WrongShape::kOneRowLess)));
  EXPECT_THAT(training.manager->SetInput(0, RandomValues(20, 1)), IsOk());
  EXPECT_THAT(
      training.manager->SetLabel(RandomValues(4, 2)),
      Refuses(absl::StatusCode::kInvalidArgument, "label 0 takes 3 F32"));
}

// The size is valid, so the plan has it, and a budget names the step.
TEST(FaultyLayersTest, AHugeWorkspaceIsRefused) {
  const Network network =
      WithLayer(WrongShapeLayer(WrongShape::kHugeWorkspace));
  EXPECT_THAT(TrainSteps(Train(network)),
              Refuses(absl::StatusCode::kResourceExhausted, "no memory"));
  MemoryOptions memory;
  memory.budget_bytes = 1 << 20;
  EXPECT_THAT(PlanExecution(network, NetworkMode::kTraining, memory).status(),
              Refuses(absl::StatusCode::kResourceExhausted, "at bad: forward"));
}

// No training can know that a finite gradient is wrong.
TEST(FaultyLayersTest, TheHarnessFindsWrongValues) {
  const auto gradient_error = [](LayerPointer layer) {
    return LayerHarness(std::move(layer), {{{3, 4}}}).WorstGradientError();
  };
  const auto derivative_error = [](LayerPointer layer) {
    return LayerHarness(std::move(layer), {{{3, 4}}}).WorstDerivativeError();
  };
  EXPECT_GT(gradient_error(DoubleMeanLayer()), 0.5);
  EXPECT_LT(derivative_error(DoubleMeanLayer()), 1e-2);
  EXPECT_LT(gradient_error(WrongColumnLayer()), 1e-2);
  EXPECT_GT(derivative_error(WrongColumnLayer()), 0.5);
  for (const LayerPointer& layer :
       {AccumulatingLayer(), DirtyWorkspaceLayer(), UnfinishedOutputLayer(),
        SquareRootLayer(), InputWritingLayer()}) {
    EXPECT_GT(gradient_error(layer), 0.5);
  }
  LayerHarness harness(OtherRecomputeLayer(), {{{3, 4}}});
  ASSERT_THAT(harness.Forward(), IsOk());
  const std::vector<float> output = harness.Values(Role::kOutput);
  ASSERT_THAT(harness.Recompute(), IsOk());
  EXPECT_NE(harness.Values(Role::kOutput), output);
}

TEST(FaultyLayersTest, AnUndeclaredReadEndsTheProgram) {
  const char* const message =
      "uses its output 0, which its signature does not declare";
  const Training training = Train(WithLayer(UndeclaredReadLayer()));
  EXPECT_DEATH((void)TrainSteps(training),
               std::string("layer \"bad\": a step ") + message);
  LayerHarness harness(UndeclaredReadLayer(), {{{3, 4}}});
  EXPECT_DEATH((void)harness.WorstDerivativeError(), message);
}

Training TrainWith(OptimizerPointer optimizer, bool poison,
                   const MemoryOptions& memory = {}) {
  ManagerOptions options;
  options.optimizer = std::move(optimizer);
  options.poison = poison;
  return Train(WithLayer(RightLayer()), memory, options);
}

// The weight has changed by then, as Optimizer::foresees_values says.
TEST(FaultyLayersTest, AnOptimizerThatMakesNaNIsNamedInItsStep) {
  for (const bool poison : {true, false}) {
    const absl::Status status =
        TrainSteps(TrainWith(DividingOptimizer(false), poison), true);
    EXPECT_THAT(status, Refuses(absl::StatusCode::kOutOfRange,
                                "apply gradient: the optimizer made weight"));
    EXPECT_THAT(status, Refuses(absl::StatusCode::kOutOfRange,
                                "load the last saved ones"));
  }
}

// Without poison such an optimizer is trusted for a step, and the next one is
// refused.
TEST(FaultyLayersTest, AnOptimizerThatForeseesWronglyIsNamedWithPoison) {
  EXPECT_THAT(TrainSteps(TrainWith(DividingOptimizer(true), true), true),
              Refuses(absl::StatusCode::kOutOfRange, "apply gradient: weight"));
  EXPECT_THAT(TrainSteps(TrainWith(DividingOptimizer(true), false), true),
              Refuses(absl::StatusCode::kOutOfRange, "the loss is nan"));
}

TEST(FaultyLayersTest, AnOptimizerThatIsNotElementwiseIsRefused) {
  const auto plan =
      PlanExecution(WithLayer(RightLayer()), NetworkMode::kTraining, {});
  ASSERT_THAT(plan, IsOk());
  ManagerOptions options;
  options.optimizer = NormOptimizer();
  EXPECT_THAT(CheckManagerOptions(*plan, options),
              Refuses(absl::StatusCode::kInvalidArgument,
                      "is_elementwise must return false"));
}

TEST(FaultyLayersTest, AnOptimizerThatChangesItsStatesEndsTheProgram) {
  const Training training = TrainWith(ChangingStatesOptimizer(), false);
  EXPECT_DEATH((void)TrainSteps(training),
               "uses its optimizer state 2, which its signature does not");
}

}  // namespace
}  // namespace footprint
