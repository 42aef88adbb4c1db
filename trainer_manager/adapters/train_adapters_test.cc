// Fine-tuning from a file of weights to a file of weights: the example of
// README.md.

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "footprint/base/files/test_file.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/adapters/adapter_file.h"
#include "footprint/trainer_manager/adapters/add_adapters.h"
#include "footprint/trainer_manager/adapters/merge_adapters.h"
#include "footprint/trainer_manager/layers/activations.h"
#include "footprint/trainer_manager/layers/fully_connected.h"
#include "footprint/trainer_manager/layers/losses.h"
#include "footprint/trainer_manager/layers/optimizer.h"
#include "footprint/trainer_manager/networks/network.h"
#include "footprint/trainer_manager/parameters/parameter_file.h"
#include "footprint/trainer_manager/parameters/parameter_map.h"
#include "footprint/trainer_manager/parameters/parameters.h"
#include "footprint/trainer_manager/runtime/plan_execution.h"
#include "footprint/trainer_manager/training/data_set.h"
#include "footprint/trainer_manager/training/evaluation.h"
#include "footprint/trainer_manager/training/train.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

// region adapters
absl::Status FineTune(const Network& network, const DataSet& data,
                      const std::string& base, const std::string& folder) {
  LoraOptions lora;
  lora.rank = 4;
  lora.alpha = 8;
  lora.targets = {{"hidden*"}};  // layers by a pattern
  lora.trained = {"head.*"};     // besides the adapters
  const auto adapted = AddAdapters(network, lora);
  if (!adapted.ok()) return adapted.status();
  TrainOptions options;
  options.manager.optimizer = AdamW(0.01f);
  options.epochs = 40;
  const auto plan =
      PlanExecution(adapted->network, NetworkMode::kTraining, options.memory,
                    options.manager.optimizer->states_per_weight());
  if (!plan.ok()) return plan.status();
  const auto parameters = Parameters::Create(*plan, /*seed=*/1);
  if (!parameters.ok()) return parameters.status();
  absl::Status status =
      LoadBaseParameters(base, {}, *adapted, parameters->get());
  if (!status.ok()) return status;
  options.parameters = *parameters;
  const auto trained = Train(adapted->network, data, options);
  if (!trained.ok()) return trained.status();
  status = SaveAdapters(*adapted, **parameters, folder);
  if (!status.ok()) return status;
  return MergeAdapters(*adapted, **parameters, folder + "/merged.safetensors");
}
// endregion

Network Rows() {
  Network network;
  network.AddInput("rows", {{8, 6}});
  network.AddLayer("hidden1", FullyConnected(16), {"rows"});
  network.AddLayer("tanh1", Tanh(), {"hidden1"});
  network.AddLayer("hidden2", FullyConnected(16), {"tanh1"});
  network.AddLayer("tanh2", Tanh(), {"hidden2"});
  network.AddLayer("head", FullyConnected(1), {"tanh2"});
  network.AddLayer("loss", MeanSquaredError(), {"head"});
  return network;
}

// Rows of six numbers, of which the label is the mean of two.
DataSet Means(int64_t first) {
  return DataSet::ReadBy(64, [first](int64_t row, auto parts) {
    float* const values = parts[0].Floats().data();
    for (int64_t i = 0; i < 6; ++i) {
      values[i] = static_cast<float>((row + first) * (7 + 4 * i) % 64) / 32 - 1;
    }
    parts[1].Floats()[0] = (values[0] + values[1]) / 2;
    return absl::OkStatus();
  });
}

TEST(TrainAdaptersTest, FromAFileOfWeightsToAFileOfWeights) {
  const std::string base = TestPath("base.safetensors");
  const auto plan = PlanExecution(Rows(), NetworkMode::kTraining, {});
  const auto parameters = *Parameters::Create(*plan, 3);
  ASSERT_THAT(SaveParameters(*parameters, base), IsOk());
  ASSERT_THAT(FineTune(Rows(), Means(0), base, TestPath("")), IsOk());

  auto evaluation = Evaluation::Create(Rows(), {}, {}, parameters, Means(0));
  ASSERT_THAT(evaluation, IsOk());
  const double before = evaluation->Run()->loss;
  ASSERT_THAT(LoadParameters(TestPath("merged.safetensors"), parameters.get()),
              IsOk());
  EXPECT_LT(evaluation->Run()->loss, before / 4);
  EXPECT_EQ(ReadAdapterConfig(TestPath(""))->rank, 4);
}

TEST(TrainAdaptersTest, WithoutTheFileOfWeightsNothingIsWritten) {
  EXPECT_THAT(FineTune(Rows(), Means(0), "/nowhere", TestPath("")),
              StatusIs(absl::StatusCode::kNotFound));
}

// Trains adapters, with the base in memory or in its file, and saves them into
// `folder`. Returns the bytes of the model and the last validation loss.
std::pair<int64_t, double> TrainOnBase(const std::string& base, bool reads,
                                       const std::string& folder) {
  LoraOptions lora;
  lora.rank = 4;
  lora.targets = {{"hidden*"}};
  lora.trained = {"head.*"};
  const auto adapted = AddAdapters(Rows(), lora);
  EXPECT_THAT(adapted, IsOk());
  TrainOptions options;
  options.manager.optimizer = AdamW(0.01f);
  options.memory.read_frozen_weights = reads;
  if (reads) options.manager.weights_file = base;
  options.validation = Means(3);
  options.epochs = 3;
  const auto plan =
      PlanExecution(adapted->network, NetworkMode::kTraining, options.memory,
                    options.manager.optimizer->states_per_weight());
  EXPECT_THAT(plan, IsOk());
  options.parameters = *Parameters::Create(*plan, /*seed=*/1);
  ParameterMap map;
  if (reads) map.only = "*";  // the rest of the file is read step by step
  EXPECT_THAT(LoadBaseParameters(base, map, *adapted, options.parameters.get()),
              IsOk());
  const auto trained = Train(adapted->network, Means(0), options);
  EXPECT_THAT(trained, IsOk());
  EXPECT_THAT(SaveAdapters(*adapted, *options.parameters, folder), IsOk());
  return {plan->model_bytes, trained->epochs.back().validation->loss};
}

TEST(TrainAdaptersTest, TheBaseMayStayInItsFile) {
  const std::string base = TestPath("base.safetensors");
  const auto plan = PlanExecution(Rows(), NetworkMode::kTraining, {});
  ASSERT_THAT(SaveParameters(**Parameters::Create(*plan, 3), base), IsOk());
  const std::string in_memory = TestPath("in_memory");
  const std::string in_file = TestPath("in_file");
  for (const std::string& folder : {in_memory, in_file}) {
    std::filesystem::create_directory(folder);
  }
  const auto expected = TrainOnBase(base, false, in_memory);
  const auto read = TrainOnBase(base, true, in_file);
  const int64_t base_bytes = (6 * 16 + 16 + 16 * 16 + 16) * 4;
  EXPECT_EQ(read.first, expected.first - base_bytes);
  EXPECT_EQ(read.second, expected.second);
  const std::string weights = "/adapter_model.safetensors";
  EXPECT_EQ(ReadTestFile(in_file + weights), ReadTestFile(in_memory + weights));
}

// A training of adapters continues only with the base with which it began.
TEST(TrainAdaptersTest, AnotherBaseIsRefused) {
  const std::string state = TestPath("other_base_training.safetensors");
  const auto plan = PlanExecution(Rows(), NetworkMode::kTraining, {});
  TrainOptions options;
  options.manager.optimizer = AdamW(0.01f);
  options.memory.read_frozen_weights = true;
  options.state_path = state;
  LoraOptions lora;
  lora.targets = {{"hidden*"}};
  lora.rank = 4;
  const auto adapted = AddAdapters(Rows(), lora);
  ASSERT_THAT(adapted, IsOk());
  for (const uint64_t seed : {3, 4}) {
    options.manager.weights_file =
        TestPath("base" + std::to_string(seed) + ".safetensors");
    ASSERT_THAT(SaveParameters(**Parameters::Create(*plan, seed),
                               options.manager.weights_file),
                IsOk());
  }
  const std::string other = options.manager.weights_file;
  options.manager.weights_file = TestPath("base3.safetensors");
  ASSERT_THAT(Train(adapted->network, Means(0), options), IsOk());
  // The training continues with the same weights in another file, and under
  // another budget.
  const std::string copy = TestPath("copy.safetensors");
  std::filesystem::copy_file(options.manager.weights_file, copy);
  options.manager.weights_file = copy;
  options.memory.recompute_outputs = false;
  options.memory.micro_batches = 2;
  options.epochs = 2;
  EXPECT_THAT(Train(adapted->network, Means(0), options), IsOk());
  const std::string before = ReadTestFile(state);
  options.manager.weights_file = other;
  options.epochs = 3;
  const absl::Status refused =
      Train(adapted->network, Means(0), options).status();
  EXPECT_THAT(refused, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(std::string(refused.message()),
              testing::HasSubstr("its training read other frozen weights"));
  EXPECT_EQ(ReadTestFile(state), before);
}

}  // namespace
}  // namespace footprint
