#include "footprint/trainer_manager/runtime/training_state.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "footprint/base/files/test_file.h"
#include "footprint/base/random/random_sequence.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/execution/execution_types.h"
#include "footprint/trainer_manager/layers/activations.h"
#include "footprint/trainer_manager/layers/fully_connected.h"
#include "footprint/trainer_manager/layers/losses.h"
#include "footprint/trainer_manager/layers/normalization.h"
#include "footprint/trainer_manager/layers/optimizer.h"
#include "footprint/trainer_manager/layers/rate_schedule.h"
#include "footprint/trainer_manager/layers/structure_layers.h"
#include "footprint/trainer_manager/networks/network.h"
#include "footprint/trainer_manager/parameters/parameter_file.h"
#include "footprint/trainer_manager/parameters/parameters.h"
#include "footprint/trainer_manager/runtime/manager_options.h"
#include "footprint/trainer_manager/runtime/plan_execution.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

constexpr int64_t kRows = 6;
constexpr int64_t kFeatures = 5;
constexpr int kSteps = 20;

Network SmallNetwork(int64_t hidden = 7) {
  Network network;
  network.AddInput("rows", {{kRows, kFeatures}});
  network.AddLayer("hidden", FullyConnected(hidden), {"rows"});
  network.AddLayer("norm", BatchNormalization(), {"hidden"});
  network.AddLayer("relu", Relu(), {"norm"});
  network.AddLayer("drop", Dropout(0.4f), {"relu"});
  network.AddLayer("prediction", FullyConnected(1), {"drop"});
  network.AddLayer("loss", MeanSquaredError(), {"prediction"});
  return network;
}

// A training of the small network, with everything that it needs.
struct Training {
  std::shared_ptr<const ExecutionPlan> plan;
  std::shared_ptr<Parameters> parameters;
  std::unique_ptr<Manager> manager;
};

Training MakeTraining(const OptimizerPointer& optimizer, uint64_t weight_seed,
                      MemoryOptions memory = {}, uint64_t dropout_seed = 5,
                      const Network& network = SmallNetwork()) {
  memory.clip_global_norm = true;
  auto plan = PlanExecution(network, NetworkMode::kTraining, memory,
                            optimizer->states_per_weight());
  EXPECT_THAT(plan, IsOk());
  Training training;
  training.plan = std::make_shared<const ExecutionPlan>(*std::move(plan));
  training.parameters = *Parameters::Create(*training.plan, weight_seed);
  ManagerOptions options;
  options.optimizer = optimizer;
  options.seed = dropout_seed;
  options.clip_norm = 0.5f;
  auto manager = Manager::Create(*training.plan, training.parameters, options);
  EXPECT_THAT(manager, IsOk());
  training.manager = *std::move(manager);
  return training;
}

// Returns the loss of a step on data that follow from the step's number.
float Step(Manager* manager) {
  RandomSequence random(static_cast<uint64_t>(manager->iteration()) + 100);
  std::vector<float> rows(kRows * kFeatures);
  std::vector<float> labels(kRows);
  for (float& value : rows) value = static_cast<float>(random.Normal());
  for (float& value : labels) value = static_cast<float>(random.Uniform());
  EXPECT_THAT(manager->SetInput(0, rows), IsOk());
  EXPECT_THAT(manager->SetLabel(labels), IsOk());
  const auto loss = manager->TrainStep();
  EXPECT_THAT(loss, IsOk());
  return loss.value_or(-1);
}

std::vector<float> AllValues(const Training& training) {
  std::vector<float> values;
  const auto tensors = training.manager->TrainedTensors(*training.plan);
  EXPECT_THAT(tensors, IsOk());
  for (const Manager::TrainedTensor& tensor : *tensors) {
    values.insert(values.end(), tensor.values.begin(), tensor.values.end());
  }
  return values;
}

std::vector<OptimizerPointer> Optimizers() {
  const RateSchedule rate = AfterWarmUp(4, CosineRate(0.1f, 0.001f, 12));
  return {StochasticGradientDescent(rate), Momentum(0.05f), Adam(0.01f),
          AdamW(rate, 0.1f)};
}

// A training that is stopped after each step has the bits of one that is not:
// losses, weights, statistics and states. This also holds for a plan that keeps
// everything.
TEST(TrainingStateTest, AResumedTrainingHasTheBitsOfOneThatWasNotStopped) {
  const std::string path = TestPath("resumed.safetensors");
  for (const OptimizerPointer& optimizer : Optimizers()) {
    SCOPED_TRACE(optimizer->name());
    const Training whole = MakeTraining(optimizer, 1);
    std::vector<float> losses;
    for (int i = 0; i < kSteps; ++i) {
      losses.push_back(Step(whole.manager.get()));
    }
    const std::vector<float> expected = AllValues(whole);
    const Training stopped = MakeTraining(optimizer, 1);
    for (int k = 0; k <= kSteps; ++k) {
      SCOPED_TRACE(k);
      ASSERT_THAT(SaveTraining(*stopped.plan, *stopped.manager, path), IsOk());
      const Training resumed = MakeTraining(
          optimizer, 99, k % 2 == 0 ? MemoryOptions::Debug() : MemoryOptions());
      ASSERT_THAT(
          ResumeTraining(path, *resumed.plan, resumed.manager.get()).status(),
          IsOk());
      EXPECT_EQ(resumed.manager->iteration(), k);
      for (int i = k; i < kSteps; ++i) {
        EXPECT_EQ(Step(resumed.manager.get()), losses[static_cast<size_t>(i)]);
      }
      EXPECT_EQ(AllValues(resumed), expected);
      if (k < kSteps) Step(stopped.manager.get());
    }
  }
}

TEST(TrainingStateTest, NotesComeBack) {
  const Training training = MakeTraining(Adam(0.01f), 1);
  const std::string path = TestPath("notes.safetensors");
  ASSERT_THAT(SaveTraining(*training.plan, *training.manager, path,
                           {{"epoch", "3"}, {"best loss", "0.25"}}),
              IsOk());
  const auto notes =
      ResumeTraining(path, *training.plan, training.manager.get());
  ASSERT_THAT(notes, IsOk());
  EXPECT_THAT(*notes,
              ElementsAre(Pair("best loss", "0.25"), Pair("epoch", "3")));
}

TEST(TrainingStateTest, AnInferenceTakesTheParametersAlone) {
  const Training training = MakeTraining(AdamW(0.01f), 1);
  Step(training.manager.get());
  const std::string path = TestPath("training.safetensors");
  ASSERT_THAT(SaveTraining(*training.plan, *training.manager, path), IsOk());
  const auto other = *Parameters::Create(*training.plan, 77);
  ASSERT_THAT(LoadParameters(path, other.get()), IsOk());
  EXPECT_EQ((*other->Find("hidden.weight")),
            (*training.parameters->Find("hidden.weight")));
}

class RefusedTest : public testing::Test {
 protected:
  RefusedTest() : path_(TestPath("refused.safetensors")) {
    Step(saved_.manager.get());
    EXPECT_THAT(SaveTraining(*saved_.plan, *saved_.manager, path_), IsOk());
  }
  // Resuming must fail and change nothing.
  void ExpectRefused(const Training& training, const std::string& message) {
    const std::vector<float> before = AllValues(training);
    const auto notes =
        ResumeTraining(path_, *training.plan, training.manager.get());
    EXPECT_EQ(notes.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(notes.status().message()), HasSubstr(message));
    EXPECT_EQ(AllValues(training), before);
    EXPECT_EQ(training.manager->iteration(), 0);
  }
  // Replaces the first `from` in the file by `to`, which has the same length.
  void Edit(const std::string& from, const std::string& to) {
    std::string bytes = ReadTestFile(path_);
    const size_t at = bytes.find(from);
    ASSERT_NE(at, std::string::npos);
    WriteTestFile("refused.safetensors", bytes.replace(at, to.size(), to));
  }

  const Training saved_ = MakeTraining(Adam(0.01f), 1);
  const std::string path_;
};

TEST_F(RefusedTest, AnotherOptimizer) {
  ExpectRefused(MakeTraining(AdamW(0.01f), 1), "the optimizer \"Adam\"");
  ExpectRefused(MakeTraining(Momentum(0.01f), 1), "and this one \"momentum\"");
}

TEST_F(RefusedTest, AnotherSeed) {
  ExpectRefused(MakeTraining(Adam(0.01f), 1, {}, 6), "the seed \"5\"");
}

TEST_F(RefusedTest, AnotherNetwork) {
  ExpectRefused(MakeTraining(Adam(0.01f), 1, {}, 5, SmallNetwork(8)),
                "but the model has F32 [8]");
}

TEST_F(RefusedTest, AFileOfWeights) {
  ASSERT_THAT(SaveParameters(*saved_.parameters, path_), IsOk());
  ExpectRefused(MakeTraining(Adam(0.01f), 1), "is no file of a training");
}

TEST_F(RefusedTest, AFileThatWasCut) {
  const std::string bytes = ReadTestFile(path_);
  WriteTestFile("refused.safetensors", bytes.substr(0, bytes.size() - 4));
  ExpectRefused(MakeTraining(Adam(0.01f), 1), "refused.safetensors");
}

TEST_F(RefusedTest, AnotherVersion) {
  Edit("\"footprint.version\":\"1\"", "\"footprint.version\":\"2\"");
  ExpectRefused(MakeTraining(Adam(0.01f), 1), "footprint.version is \"2\"");
}

TEST_F(RefusedTest, WhatTheCallersCheckRefuses) {
  const Training training = MakeTraining(Adam(0.01f), 2);
  const std::vector<float> before = AllValues(training);
  const auto notes =
      ResumeTraining(path_, *training.plan, training.manager.get(),
                     [](const TrainingNotes&, int64_t iteration) {
                       EXPECT_EQ(iteration, 1);
                       return absl::InvalidArgumentError("another day");
                     });
  EXPECT_THAT(std::string(notes.status().message()),
              HasSubstr("refused.safetensors: another day"));
  EXPECT_EQ(AllValues(training), before);
}

TEST_F(RefusedTest, AnIterationThatIsNone) {
  Edit("\"footprint.iteration\":\"1\"", "\"footprint.iteration\":\"x\"");
  ExpectRefused(MakeTraining(Adam(0.01f), 1), "is \"x\"");
}

TEST_F(RefusedTest, AStateThatIsNotFinite) {
  std::string bytes = ReadTestFile(path_);
  WriteTestFile("refused.safetensors",
                bytes.replace(bytes.size() - 4, 4, "\xff\xff\xff\x7f"));
  ExpectRefused(MakeTraining(Adam(0.01f), 1), "nan");
}

TEST_F(RefusedTest, AnotherPlanThanTheManagers) {
  const Training other = MakeTraining(Adam(0.01f), 1, MemoryOptions::Debug());
  EXPECT_EQ(SaveTraining(*other.plan, *saved_.manager, path_).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(
      ResumeTraining(path_, *other.plan, saved_.manager.get()).status().code(),
      absl::StatusCode::kInvalidArgument);
}

// A process that is killed while it saves leaves the old file or the new one.
TEST(TrainingStateTest, AKilledSaveLeavesAWholeFile) {
  const std::string path = TestPath("killed.safetensors");
  const Training training = MakeTraining(Adam(0.01f), 1);
  ASSERT_THAT(SaveTraining(*training.plan, *training.manager, path), IsOk());
  for (int i = 0; i < 50; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      while (true) {
        Step(training.manager.get());
        if (!SaveTraining(*training.plan, *training.manager, path).ok()) {
          _exit(1);
        }
      }
    }
    usleep(static_cast<useconds_t>(2000 + 331 * i));
    kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    const Training resumed = MakeTraining(Adam(0.01f), 2);
    ASSERT_THAT(
        ResumeTraining(path, *resumed.plan, resumed.manager.get()).status(),
        IsOk());
  }
}

TEST(TrainingStateTest, AnOptimizerIsReplacedByOneOfItsName) {
  const Training training = MakeTraining(Adam(0.01f), 1);
  Step(training.manager.get());
  EXPECT_THAT(training.manager->ReplaceOptimizer(Adam(0.001f)), IsOk());
  EXPECT_GT(Step(training.manager.get()), 0);
  EXPECT_EQ(training.manager->ReplaceOptimizer(AdamW(0.01f)).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(training.manager->ReplaceOptimizer(Momentum(0.01f)).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(training.manager->ReplaceOptimizer(nullptr).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(training.manager->ReplaceOptimizer(Adam(-1)).code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace footprint
