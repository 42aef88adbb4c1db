#include "footprint/trainer_manager/runtime/step_runner.h"

#include <cstddef>
#include <string>
#include <vector>

#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/runtime/training_harness.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::HasSubstr;

struct Training : TabularSteps {
  Training() : TabularSteps(NetworkMode::kTraining) { SetBatch({1, 1, 1, 1}); }

  float loss() const { return *buffers.loss(); }
  absl::Status RunAll(size_t* failed) {
    absl::Status status = runner.EnsureArena();
    if (!status.ok()) return status;
    return runner.Run(0, runner.table().steps().size(), failed);
  }
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
  const StepRunner& runner = training.runner;
  const auto steps = runner.table().steps();
  EXPECT_EQ(steps[runner.loss_step()].kind, StepKind::kForward);
  for (size_t s = runner.loss_step() + 1; s < steps.size(); ++s) {
    EXPECT_NE(steps[s].kind, StepKind::kForward);
  }
}

TEST(StepRunnerTest, TheArenaComesAndGoes) {
  Training training;
  StepRunner& runner = training.runner;
  EXPECT_EQ(runner.arena().size_bytes(), 0);
  ASSERT_THAT(runner.EnsureArena(), IsOk());
  EXPECT_EQ(runner.arena().size_bytes(), training.plan.arena_bytes);
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
  const auto& weights = training.parameters->all()[0].values;
  weights[0] = 3e38f;
  const absl::Status status = training.RunAll(&failed);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kOutOfRange));
  EXPECT_THAT(std::string(status.message()), HasSubstr("layer \""));
  EXPECT_GT(failed, 0u);
  EXPECT_EQ(weights[0], 3e38f);
}

TEST(StepRunnerTest, APlanThatSwapsNeedsAFolder) {
  Training training;
  EXPECT_THAT(training.runner.OpenSwapFile(training.plan, ""), IsOk());
  ExecutionPlan swaps = training.plan;
  swaps.steps[0].kind = StepKind::kSwapOut;
  EXPECT_THAT(training.runner.OpenSwapFile(swaps, ""),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(StepRunnerTest, WithoutCopiesOfStatisticsNothingIsRestored) {
  Training training;
  EXPECT_TRUE(training.runner.RestoreStatistics(0));
}

}  // namespace
}  // namespace footprint
