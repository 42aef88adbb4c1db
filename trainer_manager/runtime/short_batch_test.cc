// Tests training with the last rows of a data set in a batch that was planned
// for more.

#include <cstdint>
#include <memory>
#include <vector>

#include "footprint/base/random/random_sequence.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/execution/execution_types.h"
#include "footprint/trainer_manager/layers/activations.h"
#include "footprint/trainer_manager/layers/convolution2d.h"
#include "footprint/trainer_manager/layers/fully_connected.h"
#include "footprint/trainer_manager/layers/losses.h"
#include "footprint/trainer_manager/layers/optimizer.h"
#include "footprint/trainer_manager/layers/structure_layers.h"
#include "footprint/trainer_manager/networks/network.h"
#include "footprint/trainer_manager/parameters/parameters.h"
#include "footprint/trainer_manager/runtime/manager.h"
#include "footprint/trainer_manager/runtime/manager_options.h"
#include "footprint/trainer_manager/runtime/plan_execution.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

constexpr int32_t kIgnored = -100;
constexpr int64_t kPixels = 36;
constexpr int64_t kClasses = 4;

Network SmallImages(int64_t rows) {
  SoftmaxOptions options;
  options.ignored_label = kIgnored;
  Convolution2dOptions convolution;
  convolution.channels = 3;
  Network network;
  network.AddInput("images", {{rows, 1, 6, 6}});
  network.AddLayer("conv", Convolution2d(convolution), {"images"});
  network.AddLayer("relu", Relu(), {"conv"});
  network.AddLayer("flat", Flatten(), {"relu"});
  network.AddLayer("logits", FullyConnected(kClasses), {"flat"});
  network.AddLayer("loss", SoftmaxCrossEntropy(options), {"logits"});
  return network;
}

// Trains with batches of `planned` rows, of which the first `rows` are data.
// The others hold `filler` and ignored labels. Returns losses and weights.
std::vector<float> Train(int64_t planned, int64_t rows, float filler,
                         int64_t parts = 1) {
  const OptimizerPointer optimizer = Momentum(0.01f);
  MemoryOptions memory;
  memory.micro_batches = parts;
  const auto plan = PlanExecution(SmallImages(planned), NetworkMode::kTraining,
                                  memory, optimizer->states_per_weight());
  EXPECT_THAT(plan, IsOk());
  const std::shared_ptr<Parameters> parameters = *Parameters::Create(*plan, 3);
  ManagerOptions options;
  options.optimizer = optimizer;
  const auto manager = Manager::Create(*plan, parameters, options);
  EXPECT_THAT(manager, IsOk());
  RandomSequence random(8);
  std::vector<float> result;
  for (int step = 0; step < 5; ++step) {
    std::vector<float> images(static_cast<size_t>(planned * kPixels), filler);
    std::vector<int32_t> labels(static_cast<size_t>(planned), kIgnored);
    for (int64_t i = 0; i < rows * kPixels; ++i) {
      images[static_cast<size_t>(i)] = static_cast<float>(random.Normal());
    }
    for (int64_t i = 0; i < rows; ++i) {
      labels[static_cast<size_t>(i)] =
          static_cast<int32_t>(random.Below(kClasses));
    }
    EXPECT_THAT((*manager)->SetInput(0, images), IsOk());
    EXPECT_THAT((*manager)->SetLabel(labels), IsOk());
    const auto loss = (*manager)->TrainStep();
    EXPECT_THAT(loss, IsOk());
    result.push_back(loss.value_or(-1));
  }
  for (const Parameters::Parameter& parameter : parameters->all()) {
    result.insert(result.end(), parameter.values.begin(),
                  parameter.values.end());
  }
  return result;
}

TEST(ShortBatchTest, IgnoredRowsLeaveTheBitsOfAPlanOfTheOthers) {
  const std::vector<float> expected = Train(24, 24, 0);
  EXPECT_EQ(Train(32, 24, 0), expected);
  EXPECT_EQ(Train(32, 24, 7.5f), expected);
}

// The mean is over all labels that count, however the batch is divided.
TEST(ShortBatchTest, MicroBatchesCountByTheirLabels) {
  for (const int64_t parts : {2, 4}) {
    const std::vector<float> whole = Train(32, 29, 0);
    const std::vector<float> divided = Train(32, 29, 0, parts);
    ASSERT_EQ(divided.size(), whole.size());
    for (size_t i = 0; i < whole.size(); ++i) {
      EXPECT_NEAR(divided[i], whole[i], 2e-6) << i;
    }
  }
}

TEST(ShortBatchTest, APlanInPartsNamesNoLoss) {
  MemoryOptions options;
  options.micro_batches = 2;
  const auto plan =
      PlanExecution(SmallImages(8), NetworkMode::kTraining, options);
  ASSERT_THAT(plan, IsOk());
  EXPECT_THAT(plan->LayersOfPartStatistics(), testing::IsEmpty());
}

}  // namespace
}  // namespace footprint
