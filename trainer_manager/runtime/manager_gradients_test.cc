// Tests of a training's gradients: clipping, micro-batches, shared weights.

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/layers/fully_connected.h"
#include "footprint/trainer_manager/layers/losses.h"
#include "footprint/trainer_manager/layers/optimizer.h"
#include "footprint/trainer_manager/networks/reference_networks.h"
#include "footprint/trainer_manager/parameters/parameters.h"
#include "footprint/trainer_manager/runtime/manager.h"
#include "footprint/trainer_manager/runtime/plan_execution.h"
#include "footprint/trainer_manager/runtime/training_harness.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// With a rate of 1, a step changes the weights by the gradient.
std::vector<float> ComputeGradient(const MemoryOptions& memory,
                                   ManagerOptions options) {
  options.optimizer = StochasticGradientDescent(1.0f);
  Training training = Train(TabularMlp(8), memory, options);
  SetRows(training.manager.get());
  std::vector<float> gradient;
  for (const Parameters::Parameter& parameter : training.parameters->all()) {
    gradient.insert(gradient.end(), parameter.values.begin(),
                    parameter.values.end());
  }
  EXPECT_THAT(training.manager->TrainStep(), IsOk());
  size_t i = 0;
  for (const Parameters::Parameter& parameter : training.parameters->all()) {
    for (const float value : parameter.values) gradient[i++] -= value;
  }
  return gradient;
}

double ComputeNorm(const std::vector<float>& values) {
  double squares = 0;
  for (const float v : values) squares += static_cast<double>(v) * v;
  return std::sqrt(squares);
}

TEST(ManagerGradientsTest, ClipsGradientsByValueAndByGlobalNorm) {
  const std::vector<float> free = ComputeGradient({}, {});
  ManagerOptions options;
  options.clip_value = 0.01f;
  const std::vector<float> cut = ComputeGradient({}, options);
  bool any = false;
  for (size_t i = 0; i < free.size(); ++i) {
    EXPECT_NEAR(cut[i], std::min(std::max(free[i], -0.01f), 0.01f), 1e-6);
    any |= std::abs(free[i]) > 0.01f;
  }
  EXPECT_TRUE(any);
  MemoryOptions memory;
  memory.clip_global_norm = true;
  options = {};
  options.clip_norm = 0.1f;
  EXPECT_GT(ComputeNorm(free), 0.2);
  const std::vector<float> scaled = ComputeGradient(memory, options);
  EXPECT_NEAR(ComputeNorm(scaled), 0.1, 1e-4);
  for (size_t i = 0; i < free.size(); ++i) {
    EXPECT_NEAR(scaled[i], free[i] * 0.1 / ComputeNorm(free), 1e-6);
  }
  // Below the limit nothing changes.
  options.clip_norm = 100;
  EXPECT_EQ(ComputeGradient(memory, options), free);
}

TEST(ManagerGradientsTest, ClippingByNormIsPlannedAndItsCostShows) {
  const auto plan = PlanExecution(TabularMlp(8), NetworkMode::kTraining, {});
  ManagerOptions options;
  options.optimizer = StochasticGradientDescent(0.1f);
  options.clip_norm = 1;
  EXPECT_THAT(
      std::string(Manager::Create(*plan, *Parameters::Create(*plan, 1), options)
                      .status()
                      .message()),
      HasSubstr("clip_global_norm"));
  options.clip_norm = -1;
  EXPECT_THAT(Manager::Create(*plan, *Parameters::Create(*plan, 1), options),
              Not(IsOk()));
  // All gradients are live when they are clipped: exactly 13,204 bytes.
  MemoryOptions memory;
  memory.clip_global_norm = true;
  const auto clipped =
      PlanExecution(TabularMlp(1), NetworkMode::kTraining, memory);
  EXPECT_GE(clipped->certificate.bytes, 13204);
  const auto free = PlanExecution(TabularMlp(1), NetworkMode::kTraining, {});
  EXPECT_LT(free->certificate.bytes, 12000);
}

TEST(ManagerGradientsTest, MicroBatchesTrainByTheMeanOfTheirGradients) {
  const std::vector<float> whole = ComputeGradient({}, {});
  for (const int64_t parts : {2, 4, 8}) {
    MemoryOptions memory;
    memory.micro_batches = parts;
    ManagerOptions options;
    options.poison = true;
    const std::vector<float> gradient = ComputeGradient(memory, options);
    ASSERT_EQ(gradient.size(), whole.size());
    for (size_t i = 0; i < whole.size(); ++i) {
      EXPECT_NEAR(gradient[i], whole[i], 2e-6) << parts;
    }
    EXPECT_GT(ComputeNorm(gradient), 0.2);
  }
  // The loss is that of the batch, and earlier sums do not count.
  Training one = Train(TabularMlp(8));
  MemoryOptions memory;
  memory.micro_batches = 4;
  Training four = Train(TabularMlp(8), memory);
  SetRows(one.manager.get());
  SetRows(four.manager.get());
  for (int step = 0; step < 20; ++step) {
    EXPECT_NEAR(*one.manager->TrainStep(), *four.manager->TrainStep(), 1e-4);
  }
}

TEST(ManagerGradientsTest, MicroBatchesTradeSumsOfGradientsForActivations) {
  MemoryOptions memory;
  memory.micro_batches = 16;
  const auto whole = PlanExecution(LeNet5(64), NetworkMode::kTraining, {});
  const auto parts = PlanExecution(LeNet5(64), NetworkMode::kTraining, memory);
  ASSERT_THAT(parts, IsOk());
  EXPECT_LT(parts->arena_bytes, whole->arena_bytes / 4);
  EXPECT_NEAR(static_cast<double>(parts->fixed_bytes - whole->fixed_bytes),
              static_cast<double>(whole->model_bytes), 16 * 20);
  EXPECT_LT(parts->planned_bytes(), whole->planned_bytes() / 2);
  memory.micro_batches = 7;
  EXPECT_THAT(
      std::string(PlanExecution(LeNet5(64), NetworkMode::kTraining, memory)
                      .status()
                      .message()),
      HasSubstr("of shape [64, 1, 28, 28] cannot be trained with in 7 micro-"));
  memory.micro_batches = 0;
  EXPECT_THAT(PlanExecution(LeNet5(64), NetworkMode::kTraining, memory),
              Not(IsOk()));
}

TEST(ManagerGradientsTest, SharedWeightsTrainByTheSumOfTheirGradients) {
  // In y = w (w x), each use of w contributes a part of its gradient.
  Network network;
  network.AddInput("x", {{1, 1}});
  network.AddLayer("first", FullyConnected(1), {"x"});
  network.AddLayer("second", FullyConnected(1), {"first"}, "first");
  network.AddLayer("loss", MeanSquaredError(), {"second"});
  for (const MemoryOptions& memory :
       {MemoryOptions(), MemoryOptions::Debug()}) {
    ManagerOptions options;
    options.optimizer = StochasticGradientDescent(0.5f);
    options.poison = true;
    Training training = Train(network, memory, options);
    EXPECT_EQ(training.parameters->all().size(), 2u);
    (*training.parameters->Find("first.weight"))[0] = 3;
    ASSERT_THAT(training.manager->SetInput(0, std::vector<float>{2}), IsOk());
    ASSERT_THAT(training.manager->SetLabel(std::vector<float>{17}), IsOk());
    EXPECT_EQ(*training.manager->TrainStep(), 1);
    // dL/dy = 2 (18 - 17); dy/dw = 2 w x = 12; dy/db = w + 1.
    EXPECT_EQ((*training.parameters->Find("first.weight"))[0],
              3 - 0.5f * 2 * 12);
    EXPECT_EQ((*training.parameters->Find("first.bias"))[0], -0.5f * 2 * 4);
    if (memory.share_gradients) continue;
    const auto gradient =
        training.manager->Inspect(training.plan, "first.weight gradient");
    ASSERT_THAT(gradient, IsOk());
    EXPECT_EQ((*gradient)[0], 2 * 12);
    const auto share = training.manager->Inspect(
        training.plan, "second.weight share of gradient");
    ASSERT_THAT(share, IsOk());
    EXPECT_EQ((*share)[0], 2 * 6);
  }
}

}  // namespace
}  // namespace footprint
