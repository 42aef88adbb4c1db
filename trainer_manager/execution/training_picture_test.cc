#include "footprint/trainer_manager/execution/training_picture.h"

#include <string>

#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/execution/execution_plan.h"
#include "footprint/trainer_manager/layers/losses.h"
#include "footprint/trainer_manager/math/highway_backend.h"
#include "footprint/trainer_manager/networks/network.h"
#include "footprint/trainer_manager/networks/reference_networks.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(TrainingPictureTest, ShowsEveryKindOfTensorOfATraining) {
  const auto plan = PlanExecution(LeNet5(4), NetworkMode::kTraining, {},
                                  /*states=*/1, HighwayBackend());
  ASSERT_THAT(plan, IsOk());
  const std::string page = DrawExecution(*plan, "LeNet-5, batch 4");
  EXPECT_THAT(page, HasSubstr("LeNet-5, batch 4"));
  for (const char* text :
       {"weight", "optimizer state", "input, label, output", "activation",
        "gradient", "derivative", "conv1.weight", "tanh1 output",
        "fc1.weight gradient", "loss label", ">forward</text>",
        ">backward, weights change</text>"}) {
    EXPECT_THAT(page, HasSubstr(text));
  }
  EXPECT_EQ(page, DrawExecution(*plan, "LeNet-5, batch 4"));
}

TEST(TrainingPictureTest, ShowsWeightsFromTheirFile) {
  Network network = LeNet5(4);
  network.Freeze("fc1.*");
  MemoryOptions options;
  options.read_frozen_weights = true;
  const auto plan = PlanExecution(network, NetworkMode::kTraining, options,
                                  /*states=*/1, HighwayBackend());
  ASSERT_THAT(plan, IsOk());
  EXPECT_THAT(DrawExecution(*plan, "LeNet-5"), HasSubstr("fc1.weight"));
}

TEST(TrainingPictureTest, LeavesTheCallersMemoryOut) {
  const auto plan = PlanExecution(Vgg16(1), NetworkMode::kInference, {},
                                  /*states=*/0, HighwayBackend());
  ASSERT_THAT(plan, IsOk());
  const std::string page = DrawExecution(*plan, "VGG16");
  EXPECT_THAT(page, HasSubstr("conv1_1 output"));
  EXPECT_THAT(page, Not(HasSubstr("image")));
  EXPECT_THAT(page, Not(HasSubstr(">forward</text>")));
}

// An inference leaves the loss out, and nothing else is to be computed.
TEST(TrainingPictureTest, DrawsAPlanWithoutSteps) {
  Network network;
  network.AddInput("image", {{2, 3}});
  network.AddLayer("loss", MeanSquaredError(), {"image"});
  const auto plan = PlanExecution(network, NetworkMode::kInference, {},
                                  /*states=*/0, HighwayBackend());
  ASSERT_THAT(plan, IsOk());
  ASSERT_TRUE(plan->steps.empty());
  EXPECT_THAT(DrawExecution(*plan, "nothing to do"),
              HasSubstr("nothing to do"));
}

}  // namespace
}  // namespace footprint
