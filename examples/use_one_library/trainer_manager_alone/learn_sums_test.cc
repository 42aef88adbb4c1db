// Trains a network to add, in the planned memory, saves it, and loads it again.

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "footprint/trainer_manager/layers/activations.h"
#include "footprint/trainer_manager/layers/fully_connected.h"
#include "footprint/trainer_manager/layers/losses.h"
#include "footprint/trainer_manager/layers/optimizer.h"
#include "footprint/trainer_manager/networks/network.h"
#include "footprint/trainer_manager/parameters/parameter_file.h"
#include "footprint/trainer_manager/parameters/parameters.h"
#include "footprint/trainer_manager/runtime/manager.h"
#include "footprint/trainer_manager/runtime/plan_execution.h"
#include "gtest/gtest.h"

namespace {

footprint::Network Adder(bool with_loss) {
  footprint::Network network;
  network.AddInput("rows", {{4, 2}});
  network.AddLayer("hidden", footprint::FullyConnected(8), {"rows"});
  network.AddLayer("relu", footprint::Relu(), {"hidden"});
  network.AddLayer("sum", footprint::FullyConnected(1), {"relu"});
  if (with_loss) {
    network.AddLayer("loss", footprint::MeanSquaredError(), {"sum"});
  }
  return network;
}

TEST(LearnSumsTest, TrainsInThePlannedMemoryAndInfersFromTheFile) {
  const std::vector<float> rows = {0, 0, 0, 1, 1, 0, 1, 1};
  const std::vector<float> sums = {0, 1, 1, 2};
  const auto plan = footprint::PlanExecution(
      Adder(true), footprint::NetworkMode::kTraining, {});
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->planned_bytes(), plan->bound_bytes());
  const auto parameters = footprint::Parameters::Create(*plan, /*seed=*/1);
  ASSERT_TRUE(parameters.ok()) << parameters.status();
  footprint::ManagerOptions options;
  options.optimizer = footprint::StochasticGradientDescent(0.1f);
  const auto training = footprint::Manager::Create(*plan, *parameters, options);
  ASSERT_TRUE(training.ok()) << training.status();
  ASSERT_TRUE((*training)->SetInput(0, absl::MakeConstSpan(rows)).ok());
  ASSERT_TRUE((*training)->SetLabel(absl::MakeConstSpan(sums)).ok());
  for (int step = 0; step < 500; ++step) {
    ASSERT_TRUE((*training)->TrainStep().ok());
  }
  const std::string path = testing::TempDir() + "/adder.safetensors";
  ASSERT_TRUE(footprint::SaveParameters(**parameters, path).ok());

  const auto inference_plan = footprint::PlanExecution(
      Adder(false), footprint::NetworkMode::kInference, {});
  ASSERT_TRUE(inference_plan.ok()) << inference_plan.status();
  const auto loaded = footprint::Parameters::Create(*inference_plan, 2);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  ASSERT_TRUE(footprint::LoadParameters(path, loaded->get()).ok());
  const auto inference =
      footprint::Manager::Create(*inference_plan, *loaded, {});
  ASSERT_TRUE(inference.ok()) << inference.status();
  ASSERT_TRUE((*inference)->Infer({absl::MakeConstSpan(rows)}).ok());
  const auto output = (*inference)->Output();
  ASSERT_TRUE(output.ok()) << output.status();
  for (size_t i = 0; i < sums.size(); ++i) {
    EXPECT_NEAR((*output)[i], sums[i], 0.05) << i;
  }
}

}  // namespace
