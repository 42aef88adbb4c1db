#include "footprint/trainer_manager/runtime/step_runner.h"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/layers/optimizer.h"
#include "footprint/trainer_manager/networks/reference_networks.h"
#include "footprint/trainer_manager/parameters/parameters.h"
#include "footprint/trainer_manager/runtime/plan_execution.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::HasSubstr;

// A training whose buffers and runner refer to each other, as a manager's do.
class Training {
 public:
  explicit Training(const MemoryOptions& memory = {})
      : plan_(*PlanExecution(TabularMlp(4), NetworkMode::kTraining, memory)),
        parameters_(*Parameters::Create(plan_, 1)),
        runner_(plan_, *StepTable::Create(plan_, *parameters_), Options(),
                &buffers_),
        buffers_(plan_, runner_.table(), /*watch_lent=*/false) {
    const std::vector<float> rows(4 * 13, 0.5f);
    const std::vector<float> labels(4, 1.0f);
    EXPECT_THAT(buffers_.Set(BatchPart::kInput, 0, absl::MakeConstSpan(rows)),
                IsOk());
    EXPECT_THAT(buffers_.Set(BatchPart::kLabel, 0, absl::MakeConstSpan(labels)),
                IsOk());
  }

  const ExecutionPlan& plan() const { return plan_; }
  Parameters& parameters() { return *parameters_; }
  StepRunner& runner() { return runner_; }
  float loss() const { return *buffers_.loss(); }
  absl::Status RunAll(size_t* failed) {
    absl::Status status = runner_.EnsureArena();
    if (!status.ok()) return status;
    return runner_.Run(0, runner_.table().steps().size(), failed);
  }

 private:
  static ManagerOptions Options() {
    ManagerOptions options;
    options.optimizer = StochasticGradientDescent(0.01f);
    return options;
  }

  const ExecutionPlan plan_;
  const std::shared_ptr<Parameters> parameters_;
  StepRunner runner_;
  BatchBuffers buffers_;
};

TEST(StepRunnerTest, AllStepsTogetherTrain) {
  Training training;
  size_t failed = 0;
  ASSERT_THAT(training.RunAll(&failed), IsOk());
  const float first = training.loss();
  for (int i = 0; i < 20; ++i) ASSERT_THAT(training.RunAll(&failed), IsOk());
  EXPECT_LT(training.loss(), first);
}

TEST(StepRunnerTest, TheStepOfTheLossIsTheLastForward) {
  Training training;
  const StepRunner& runner = training.runner();
  const auto steps = runner.table().steps();
  EXPECT_EQ(steps[runner.loss_step()].kind, StepKind::kForward);
  for (size_t s = runner.loss_step() + 1; s < steps.size(); ++s) {
    EXPECT_NE(steps[s].kind, StepKind::kForward);
  }
}

TEST(StepRunnerTest, TheArenaComesAndGoes) {
  Training training;
  StepRunner& runner = training.runner();
  EXPECT_EQ(runner.arena().size_bytes(), 0);
  ASSERT_THAT(runner.EnsureArena(), IsOk());
  EXPECT_EQ(runner.arena().size_bytes(), training.plan().arena.height_bytes);
  const void* const address = runner.arena().data();
  ASSERT_THAT(runner.EnsureArena(), IsOk());
  EXPECT_EQ(runner.arena().data(), address);
  runner.ReleaseArena();
  EXPECT_EQ(runner.arena().size_bytes(), 0);
}

TEST(StepRunnerTest, AnUpdateThatIsNotFiniteNamesItsLayer) {
  Training training;
  size_t failed = 0;
  ASSERT_THAT(training.RunAll(&failed), IsOk());
  const auto& weights = training.parameters().all()[0].values;
  weights[0] = 3e38f;
  const absl::Status status = training.RunAll(&failed);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kOutOfRange));
  EXPECT_THAT(std::string(status.message()), HasSubstr("layer \""));
  EXPECT_GT(failed, 0u);
  EXPECT_EQ(weights[0], 3e38f);
}

TEST(StepRunnerTest, APlanThatSwapsNeedsAFolder) {
  Training training;
  EXPECT_THAT(training.runner().OpenSwapFile(training.plan()), IsOk());
  ExecutionPlan swaps = training.plan();
  swaps.steps[0].kind = StepKind::kSwapOut;
  EXPECT_THAT(training.runner().OpenSwapFile(swaps),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(StepRunnerTest, WithoutCopiesOfStatisticsNothingIsRestored) {
  Training training;
  EXPECT_TRUE(training.runner().RestoreStatistics(0));
}

}  // namespace
}  // namespace footprint
