#include "footprint/trainer_manager/runtime/plan_execution.h"

#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/networks/reference_networks.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(PlanExecutionTest, PlansForTheKernelsOfThisMachine) {
  const auto plan = PlanExecution(LeNet5(4), NetworkMode::kTraining, {}, 2);
  ASSERT_THAT(plan, IsOk());
  EXPECT_EQ(plan->math, &HighwayBackend());
  EXPECT_EQ(plan->optimizer_states, 2);
  const auto same =
      PlanExecution(LeNet5(4), NetworkMode::kTraining, {}, 2, HighwayBackend());
  ASSERT_THAT(same, IsOk());
  EXPECT_EQ(plan->planned_bytes(), same->planned_bytes());
}

TEST(PlanExecutionTest, PlansNoStatesUnlessAskedTo) {
  const auto plan = PlanExecution(LeNet5(4), NetworkMode::kTraining, {});
  ASSERT_THAT(plan, IsOk());
  EXPECT_EQ(plan->optimizer_states, 0);
}

}  // namespace
}  // namespace footprint
