#include "footprint/trainer_manager/execution/execution_steps.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/layers/activations.h"
#include "footprint/trainer_manager/layers/fully_connected.h"
#include "footprint/trainer_manager/layers/losses.h"
#include "footprint/trainer_manager/layers/normalization.h"
#include "footprint/trainer_manager/layers/pooling.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::ElementsAre;

StepGraph Build(const Network& network, NetworkMode mode,
                const StepChoices& choices = {},
                const MemoryOptions& options = {}) {
  const auto resolved = ResolveNetwork(network, mode, ReferenceMath(), true);
  EXPECT_THAT(resolved, IsOk());
  const auto graph =
      BuildSteps(std::make_shared<const ResolvedNetwork>(*resolved),
                 ReferenceMath(), options, 0, choices);
  EXPECT_THAT(graph, IsOk());
  return *graph;
}

std::vector<std::string> ListNames(const StepGraph& graph) {
  std::vector<std::string> names;
  for (size_t s = 0; s < graph.steps.size(); ++s) {
    names.push_back(StepName(graph, static_cast<int64_t>(s)));
  }
  return names;
}

const PlannedTensor& Find(const StepGraph& graph, const std::string& name) {
  for (const PlannedTensor& tensor : graph.tensors) {
    if (tensor.name == name) return tensor;
  }
  ADD_FAILURE() << "no tensor " << name;
  return graph.tensors[0];
}

Network Normalized() {
  Network network;
  network.AddInput("x", {{4, 3}});
  network.AddLayer("norm", BatchNormalization(), {"x"});
  network.AddLayer("loss", MeanSquaredError(), {"norm"});
  return network;
}

Network TwoLayers() {
  Network network;
  network.AddInput("x", {{4, 3}});
  network.AddLayer("fc1", FullyConnected(3), {"x"});
  network.AddLayer("relu", Relu(), {"fc1"});
  network.AddLayer("fc2", FullyConnected(2), {"relu"});
  network.AddLayer("loss", MeanSquaredError(), {"fc2"});
  return network;
}

// Choices that only swap the outputs of these layers.
StepChoices Swap(std::vector<size_t> layers) {
  StepChoices choices;
  choices.swapped = std::move(layers);
  return choices;
}

TEST(ExecutionStepsTest, StatisticsAreCopiedUntilTheLossIsKnown) {
  const StepGraph graph = Build(Normalized(), NetworkMode::kTraining);
  EXPECT_THAT(ListNames(graph),
              ElementsAre("loss: copy statistics", "norm: forward",
                          "loss: forward", "loss: restore statistics",
                          "norm: recompute", "loss: calculate derivative",
                          "norm: calculate gradient", "norm: apply gradient"));
  const std::string name = "norm.variance before";
  const PlannedTensor& copy = Find(graph, name);
  EXPECT_EQ(copy.kind, TensorKind::kStatisticCopy);
  EXPECT_EQ(copy.lower_step, 0);
  EXPECT_EQ(copy.upper_step, 4);
  EXPECT_THAT(ListNames(Build(Normalized(), NetworkMode::kInference)),
              ElementsAre("norm: forward"));
}

// No derivative is calculated before the first trained layer.
TEST(ExecutionStepsTest, NothingIsSavedForBackwardStepsThatDoNotRun) {
  Network network;
  network.AddInput("x", {{4, 3, 8, 8}});
  network.AddLayer("first pool", MaxPool2d(2), {"x"});
  network.AddLayer("norm", BatchNormalization(), {"first pool"});
  network.AddLayer("second pool", MaxPool2d(2), {"norm"});
  network.AddLayer("loss", MeanSquaredError(), {"second pool"});
  const StepGraph graph = Build(network, NetworkMode::kTraining);
  std::vector<std::string> saved;
  for (const PlannedTensor& tensor : graph.tensors) {
    if (tensor.kind == TensorKind::kSaved) saved.push_back(tensor.name);
  }
  EXPECT_THAT(saved, ElementsAre("norm saved 0", "norm saved 1",
                                 "second pool saved 0"));
}

// Weights, inputs and labels are live before the first step that reads them.
TEST(ExecutionStepsTest, WhatIsGivenIsLiveFromTheFirstStep) {
  const StepGraph graph = Build(TwoLayers(), NetworkMode::kTraining);
  for (const char* name : {"fc1.weight", "fc2.weight", "x", "loss label"}) {
    EXPECT_EQ(Find(graph, name).lower_step, 0) << name;
  }
  EXPECT_GT(Find(graph, "fc2 output").lower_step, 0);
}

TEST(ExecutionStepsTest, WhatIsKeptAsOutputIsNotCalculatedAgain) {
  Network network;
  network.AddInput("x", {{4, 3}});
  network.AddLayer("fc", FullyConnected(3), {"x"});
  network.AddLayer("norm", BatchNormalization(), {"fc"});
  network.AddLayer("loss", MeanSquaredError(), {"norm"});
  StepChoices choices;
  choices.dropped = {1};
  for (const bool kept : {false, true}) {
    MemoryOptions options;
    options.keep_outputs = kept;
    const StepGraph graph =
        Build(network, NetworkMode::kTraining, choices, options);
    int again = 0;
    for (const PlannedStep& step : graph.steps) {
      again += step.kind == StepKind::kRecompute;
    }
    EXPECT_EQ(again, kept ? 0 : 1);
  }
}

TEST(ExecutionStepsTest, ASumOfGradientsMayLieOnEither) {
  Network network;
  network.AddInput("x", {{4, 3}});
  network.AddLayer("fc", FullyConnected(3), {"x"});
  network.AddLayer("same", FullyConnected(3), {"fc"}, /*weights_of=*/"fc");
  network.AddLayer("loss", MeanSquaredError(), {"same"});
  const StepGraph graph = Build(network, NetworkMode::kTraining);
  int sums = 0;
  for (const PlannedStep& step : graph.steps) {
    if (step.kind != StepKind::kSumGradients) continue;
    ++sums;
    std::vector<int> under;
    for (const InPlace& pair : step.in_place) under.push_back(pair.read.index);
    EXPECT_THAT(under, ElementsAre(0, 1));
  }
  EXPECT_EQ(sums, 2);  // of the weight and of the bias
}

TEST(ExecutionStepsTest, WhatIsSwappedIsAbsentInBetween) {
  const StepGraph graph = Build(TwoLayers(), NetworkMode::kTraining, Swap({1}));
  EXPECT_THAT(
      ListNames(graph),
      ElementsAre("fc1: forward", "relu: forward", "relu: swap out",
                  "fc2: forward", "loss: forward", "loss: calculate derivative",
                  "relu: swap in", "fc2: calculate gradient",
                  "fc2: calculate derivative", "fc2: apply gradient",
                  "relu: calculate derivative", "fc1: calculate gradient",
                  "fc1: apply gradient"));
  EXPECT_EQ(Find(graph, "relu output").upper_step, 4);
  EXPECT_EQ(Find(graph, "relu output back").lower_step, 6);
  EXPECT_EQ(Find(graph, "relu output back").upper_step, 11);
  EXPECT_EQ(graph.swap_file_bytes, 4 * 3 * 4);
}

TEST(ExecutionStepsTest, WhatNobodyReadsAgainIsNotSwapped) {
  // No backward step reads the first layer's output.
  const StepGraph graph =
      Build(TwoLayers(), NetworkMode::kTraining, Swap({0, 1}));
  EXPECT_EQ(graph.swap_file_bytes, 4 * 3 * 4);
  int swaps = 0;
  for (const PlannedStep& step : graph.steps) {
    swaps += step.kind == StepKind::kSwapOut;
  }
  EXPECT_EQ(swaps, 1);
}

TEST(ExecutionStepsTest, PiecesOfTheFileDoNotOverlap) {
  // The loss reads fc2's output again.
  const StepGraph graph =
      Build(TwoLayers(), NetworkMode::kTraining, Swap({1, 2}));
  std::vector<int64_t> out;
  std::vector<int64_t> in;
  for (const PlannedStep& step : graph.steps) {
    if (step.kind == StepKind::kSwapOut) out.push_back(step.file_offset_bytes);
    if (step.kind == StepKind::kSwapIn) in.push_back(step.file_offset_bytes);
  }
  EXPECT_THAT(out, ElementsAre(0, 4096));
  EXPECT_THAT(in, ElementsAre(4096, 0));
  EXPECT_EQ(graph.swap_file_bytes, 4096 + 4 * 2 * 4);
}

}  // namespace
}  // namespace footprint
