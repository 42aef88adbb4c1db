#include "footprint/trainer_manager/runtime/weight_reader.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/layers/fully_connected.h"
#include "footprint/trainer_manager/layers/losses.h"
#include "footprint/trainer_manager/layers/optimizer.h"
#include "footprint/trainer_manager/networks/network.h"
#include "footprint/trainer_manager/parameters/parameter_file.h"
#include "footprint/trainer_manager/parameters/parameters.h"
#include "footprint/trainer_manager/runtime/manager.h"
#include "footprint/trainer_manager/runtime/plan_execution.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// A network whose first two layers are frozen and have the same weights.
Network MakeNetwork() {
  Network network;
  network.AddInput("rows", {{2, 3}});
  network.AddLayer("base", FullyConnected(3), {"rows"});
  network.AddLayer("again", FullyConnected(3), {"base"}, "base");
  network.AddLayer("head", FullyConnected(1), {"again"});
  network.AddLayer("loss", MeanSquaredError(), {"head"});
  network.Freeze("base.*");
  return network;
}

ExecutionPlan Plan(bool reads, NetworkMode mode = NetworkMode::kTraining) {
  MemoryOptions options;
  options.read_frozen_weights = reads;
  const auto plan = PlanExecution(MakeNetwork(), mode, options);
  EXPECT_THAT(plan, IsOk());
  return *plan;
}

// Writes the weights of a training with all weights in memory, which differ in
// each element.
std::string SaveBase(const std::string& name) {
  const auto parameters = *Parameters::Create(Plan(false), 1);
  float next = 0;
  for (const Parameters::Parameter& each : parameters->all()) {
    for (float& value : each.values) value = next += 0.125f;
  }
  const std::string path = TestPath(name);
  EXPECT_THAT(SaveParameters(*parameters, path), IsOk());
  return path;
}

absl::StatusOr<std::unique_ptr<Manager>> MakeManager(
    const ManagerOptions& with) {
  const ExecutionPlan plan = Plan(true);
  ManagerOptions options = with;
  options.optimizer = StochasticGradientDescent(0.1f);
  return Manager::Create(plan, *Parameters::Create(plan, 1), options);
}

absl::Status Step(Manager* manager) {
  const auto rows = manager->InputValues(0);
  const auto labels = manager->LabelValues();
  std::fill(rows->begin(), rows->end(), 0.5f);
  std::fill(labels->begin(), labels->end(), 1.0f);
  return manager->TrainStep().status();
}

TEST(WeightReaderTest, ReadsTheOperandsOfEachStep) {
  const ExecutionPlan plan = Plan(true);
  // The derivative of "again" needs no weights, since nothing before it is
  // trained.
  EXPECT_EQ(plan.weight_bytes_read_per_iteration(), 2 * (9 + 3) * 4);
  EXPECT_EQ(plan.model_bytes, 16 + 4);  // of the head, aligned
  auto reader = WeightReader::Open(plan, SaveBase("base.safetensors"), {});
  ASSERT_THAT(reader, IsOk());
  const TensorType weight = {{3, 3}};
  const TensorType bias = {{3}};
  std::vector<float> values(12);
  const std::vector<StepData::Slot> slots = {
      {{Role::kWeight, 0}, false, true, &weight, values.data()},
      {{Role::kWeight, 1}, false, true, &bias, values.data() + 9}};
  for (const size_t first : {0, 2}) {
    values.assign(12, -1);
    ASSERT_THAT((*reader)->Read(first, slots), IsOk());
    for (size_t i = 0; i < values.size(); ++i) {
      EXPECT_EQ(values[i], 0.125f * static_cast<float>(i + 1)) << first;
    }
  }
}

TEST(WeightReaderTest, AMapNamesAndTransposesWhatTheFileHas) {
  const std::string path = SaveBase("base.safetensors");
  ParameterMap map;
  map.tensors["base.weight"] = {"base.weight", /*transposed=*/true};
  auto reader = WeightReader::Open(Plan(true), path, map);
  ASSERT_THAT(reader, IsOk());
  const TensorType weight = {{3, 3}};
  std::vector<float> values(9);
  const std::vector<StepData::Slot> slots = {
      {{Role::kWeight, 0}, false, true, &weight, values.data()}};
  ASSERT_THAT((*reader)->Read(0, slots), IsOk());
  EXPECT_EQ(values[1], 0.5f);
  EXPECT_EQ(values[3], 0.25f);
  map.tensors["base.weight"].name = "body.weight";
  EXPECT_THAT(WeightReader::Open(Plan(true), path, map),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr(path), HasSubstr("body.weight"))));
}

TEST(WeightReaderTest, AManagerNeedsTheFile) {
  ManagerOptions options;
  EXPECT_THAT(MakeManager(options),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("ManagerOptions::weights_file")));
  options.weights_file = TestPath("none.safetensors");
  EXPECT_THAT(MakeManager(options),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("none")));
  options.weights_file = WriteTestFile("text.safetensors", "no weights at all");
  EXPECT_THAT(MakeManager(options),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("text")));
}

TEST(WeightReaderTest, AFileThatNothingReadsIsRefused) {
  const ExecutionPlan plan = Plan(false);
  ManagerOptions options;
  options.optimizer = StochasticGradientDescent(0.1f);
  options.weights_file = SaveBase("base.safetensors");
  EXPECT_THAT(Manager::Create(plan, *Parameters::Create(plan, 1), options),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("MemoryOptions::read_frozen_weights")));
}

TEST(WeightReaderTest, NaNIsRefusedBeforeTheFirstStep) {
  const auto parameters = *Parameters::Create(Plan(false), 1);
  (*parameters->Find("base.bias"))[2] = std::nanf("");
  ManagerOptions options;
  options.weights_file = TestPath("nan.safetensors");
  ASSERT_THAT(SaveParameters(*parameters, options.weights_file), IsOk());
  EXPECT_THAT(MakeManager(options),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("base.bias"), HasSubstr("at index 2"))));
}

TEST(WeightReaderTest, AFileOfAnotherModelIsRefused) {
  Network other;
  other.AddInput("rows", {{2, 5}});
  other.AddLayer("base", FullyConnected(3), {"rows"});
  other.AddLayer("loss", MeanSquaredError(), {"base"});
  const auto plan = PlanExecution(other, NetworkMode::kTraining, {});
  ManagerOptions options;
  options.weights_file = TestPath("other.safetensors");
  ASSERT_THAT(
      SaveParameters(**Parameters::Create(*plan, 1), options.weights_file),
      IsOk());
  EXPECT_THAT(MakeManager(options),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("[5, 3]"), HasSubstr("[3, 3]"))));
}

TEST(WeightReaderTest, AFileThatIsReplacedOrTruncatedEndsTheStep) {
  for (const bool truncates : {false, true}) {
    ManagerOptions options;
    options.weights_file = SaveBase("changed.safetensors");
    auto manager = MakeManager(options);
    ASSERT_THAT(manager, IsOk());
    ASSERT_THAT(Step(manager->get()), IsOk());
    if (truncates) {
      WriteTestFile("changed.safetensors", "short");
    } else {
      SaveBase("changed.safetensors");
    }
    const absl::Status status = Step(manager->get());
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition,
                                 AllOf(HasSubstr("read weights"),
                                       HasSubstr("changed.safetensors"))));
    EXPECT_EQ((*manager)->iteration(), 1);
  }
}

TEST(WeightReaderTest, AnInferenceReadsTheSameWeights) {
  const std::string path = SaveBase("base.safetensors");
  const ExecutionPlan plan = Plan(true, NetworkMode::kInference);
  const auto parameters = *Parameters::Create(plan, 1);
  const auto all = *Parameters::Create(Plan(false), 1);
  ASSERT_THAT(LoadParameters(path, all.get()), IsOk());
  ParameterMap head;
  head.only = "*";
  ASSERT_THAT(LoadParameters(path, head, parameters.get()), IsOk());
  ManagerOptions options;
  options.weights_file = path;
  auto reads = Manager::Create(plan, parameters, options);
  auto resident =
      Manager::Create(Plan(false, NetworkMode::kInference), all, {});
  ASSERT_THAT(reads, IsOk());
  ASSERT_THAT(resident, IsOk());
  const std::vector<float> rows = {1, 2, 3, 4, 5, 6};
  ASSERT_THAT((*reads)->Infer({InputView(rows)}), IsOk());
  ASSERT_THAT((*resident)->Infer({InputView(rows)}), IsOk());
  EXPECT_EQ(*(*reads)->Output(), *(*resident)->Output());
}

}  // namespace
}  // namespace footprint
