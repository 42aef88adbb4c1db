#include "footprint/trainer_manager/execution/step_writer.h"

#include <memory>
#include <string>
#include <vector>

#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/layers/activations.h"
#include "footprint/trainer_manager/layers/fully_connected.h"
#include "footprint/trainer_manager/layers/losses.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::ElementsAre;

// Resolves layers fc (0), relu (1) and loss (2).
ResolvedNetwork ThreeLayers() {
  Network network;
  network.AddInput("x", {{4, 3}});
  network.AddLayer("fc", FullyConnected(2), {"x"});
  network.AddLayer("relu", Relu(), {"fc"});
  network.AddLayer("loss", MeanSquaredError(), {"relu"});
  const auto resolved = ResolveNetwork(network, NetworkMode::kTraining);
  EXPECT_THAT(resolved, IsOk());
  return *resolved;
}

StepWriter MakeWriter(
    const MemoryOptions& options,
    const StepWriter::LayerChoices& choices = StepWriter::LayerChoices(3),
    const ResolvedNetwork& network = ThreeLayers()) {
  return {options, choices, std::make_shared<const ResolvedNetwork>(network)};
}

std::vector<std::string> ListNames(const StepGraph& graph) {
  std::vector<std::string> names;
  for (size_t s = 0; s < graph.steps.size(); ++s) {
    names.push_back(StepName(graph, static_cast<int64_t>(s)));
  }
  return names;
}

TEST(StepWriterTest, KeepsWhatTheOptionsLetNobodyReuse) {
  for (const bool reuse : {true, false}) {
    MemoryOptions options;
    options.reuse_activations = reuse;
    StepWriter writer = MakeWriter(options);
    const StepGraph& graph = writer.graph();
    const size_t output =
        writer.AddTensor("a", TensorKind::kActivation, {{4, 2}});
    const size_t gradient =
        writer.AddTensor("g", TensorKind::kGradient, {{4, 2}});
    const size_t weight = writer.AddTensor("w", TensorKind::kWeight, {{3, 2}});
    EXPECT_EQ(graph.tensors[output].is_retained, !reuse);
    EXPECT_FALSE(graph.tensors[gradient].is_retained);
    EXPECT_TRUE(graph.tensors[weight].is_retained);
    EXPECT_EQ(graph.tensors[weight].size_bytes, 24);
  }
}

TEST(StepWriterTest, AWholeBatchHoldsAllParts) {
  MemoryOptions options;
  options.micro_batches = 3;
  StepWriter writer = MakeWriter(options);
  const StepGraph& graph = writer.graph();
  const size_t input = writer.AddWholeBatch("x", TensorKind::kInput, {{4, 3}});
  EXPECT_EQ(graph.tensors[input].size_bytes, 3 * 48);
  // A size that no plan can hold is not multiplied, which would overflow.
  const size_t huge =
      writer.AddWholeBatch("huge", TensorKind::kInput, {{int64_t{1} << 60}});
  EXPECT_GT(graph.tensors[huge].size_bytes, int64_t{1} << 60);
}

TEST(StepWriterTest, WhatDoesNotExistIsLeftOutAndWhatOccursTwiceIsOne) {
  const MemoryOptions options;
  StepWriter writer = MakeWriter(options);
  const StepGraph& graph = writer.graph();
  writer.layer(0).gradients = {
      writer.AddTensor("g", TensorKind::kGradient, {{3, 2}})};
  StepUse use;
  use.reads = {{Role::kGradient, 0}, {Role::kGradient, 1}};
  use.writes = {{Role::kGradient, 0}, {Role::kInputDerivative}};
  writer.AddStep(StepKind::kApplyGradient, 0, use);
  ASSERT_EQ(graph.steps.size(), 1u);
  ASSERT_EQ(graph.steps[0].uses.size(), 1u);
  const TensorUse& only = graph.steps[0].uses[0];
  EXPECT_EQ(only.tensor, writer.layer(0).gradients[0]);
  EXPECT_TRUE(only.read);
  EXPECT_TRUE(only.written);
}

TEST(StepWriterTest, BackwardStepsReadTheValueThatWasCalculatedAgainOnce) {
  for (const bool swapped : {false, true}) {
    const MemoryOptions options;
    StepWriter::LayerChoices choices(3);
    (swapped ? choices.swapped : choices.recomputed)[1] = true;
    StepWriter writer = MakeWriter(options, choices);
    const StepGraph& graph = writer.graph();
    const size_t relu = graph.network->inputs.size() + 1;
    writer.layer(0).output =
        writer.AddTensor("fc output", TensorKind::kActivation, {{4, 2}});
    writer.layer(1).inputs = {writer.layer(0).output};
    writer.layer(1).output =
        writer.AddTensor("relu output", TensorKind::kActivation, {{4, 2}});
    writer.layer(2).inputs = {writer.layer(1).output};
    StepUse reads;
    reads.reads = {{Role::kInput}};
    writer.AddStep(StepKind::kForward, 2, reads);
    EXPECT_EQ(graph.steps[0].uses[0].tensor, writer.layer(1).output);
    EXPECT_EQ(writer.recomputed_tensor(relu), StepWriter::kNone);
    writer.AddStep(StepKind::kCalculateDerivative, 2, reads);
    writer.AddStep(StepKind::kCalculateGradient, 2, reads);
    EXPECT_THAT(
        ListNames(graph),
        ElementsAre("loss: forward",
                    swapped ? "relu: swap in" : "relu: recompute",
                    "loss: calculate derivative", "loss: calculate gradient"));
    EXPECT_NE(writer.recomputed_tensor(relu), StepWriter::kNone);
    EXPECT_EQ(graph.steps[2].uses[0].tensor, writer.recomputed_tensor(relu));
    EXPECT_EQ(graph.steps[3].uses[0].tensor, writer.recomputed_tensor(relu));
  }
}

TEST(StepWriterTest, AWorkspaceIsOfItsStepAlone) {
  ResolvedNetwork network = ThreeLayers();
  network.layers[0].signature.workspaces = {{{7}}};
  const MemoryOptions options;
  StepWriter writer = MakeWriter(options, StepWriter::LayerChoices(3), network);
  const StepGraph& graph = writer.graph();
  StepUse use;
  use.writes = {{Role::kWorkspace}};
  writer.AddStep(StepKind::kForward, 0, use);
  writer.AddStep(StepKind::kCalculateGradient, 0, use);
  EXPECT_NE(graph.steps[0].uses[0].tensor, graph.steps[1].uses[0].tensor);
  EXPECT_EQ(graph.tensors[graph.steps[0].uses[0].tensor].kind,
            TensorKind::kWorkspace);
}

}  // namespace
}  // namespace footprint
