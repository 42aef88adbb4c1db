#include "footprint/trainer_manager/runtime/plan_execution.h"

#include "footprint/trainer_manager/networks/reference_networks.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(PlanExecutionTest, PlansForTheKernelsOfThisMachine) {
  const auto plan = PlanExecution(LeNet5(4), NetworkMode::kTraining, {}, 2);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->math, &HighwayBackend());
  EXPECT_EQ(plan->optimizer_states, 2);
  const auto same =
      PlanExecution(LeNet5(4), NetworkMode::kTraining, {}, 2, HighwayBackend());
  ASSERT_TRUE(same.ok()) << same.status();
  EXPECT_EQ(plan->planned_bytes(), same->planned_bytes());
}

TEST(PlanExecutionTest, PlansNoStatesUnlessAskedTo) {
  const auto plan = PlanExecution(LeNet5(4), NetworkMode::kTraining, {});
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->optimizer_states, 0);
}

}  // namespace
}  // namespace footprint
