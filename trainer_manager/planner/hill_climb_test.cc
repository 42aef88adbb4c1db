#include "footprint/trainer_manager/planner/hill_climb.h"

#include <cstdint>
#include <vector>

#include "absl/time/clock.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/planner/generated_requests.h"
#include "footprint/trainer_manager/planner/lower_bound.h"
#include "footprint/trainer_manager/planner/ordered_placement.h"
#include "footprint/trainer_manager/planner/plan_validator.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace trainer_manager_internal {
namespace {

std::vector<TensorRequest> Packing(uint64_t seed) {
  return CutPerfectPacking(30, 200, CutStyle::kGuillotine, seed).requests;
}

int64_t Climb(const PlacementProblem& problem, const HillClimbEffort& effort) {
  return ComputeHeight(
      problem,
      ClimbHill(problem, SortItems(problem, PlacementOrder::kBySize), effort));
}

TEST(ClimbHillTest, WithoutTrialsIsFirstFit) {
  const PlacementProblem problem = MakePlacementProblem(Packing(0));
  const std::vector<int32_t> order =
      SortItems(problem, PlacementOrder::kBySize);
  HillClimbEffort effort;
  effort.trial_limit = 0;
  EXPECT_EQ(ClimbHill(problem, order, effort), PlaceByFirstFit(problem, order));
}

TEST(ClimbHillTest, NeverEndsHigherAndOftenLower) {
  int64_t lower = 0;
  for (uint64_t seed = 0; seed < 30; ++seed) {
    const PlacementProblem problem = MakePlacementProblem(Packing(seed));
    HillClimbEffort effort;
    int64_t before = 1'000'000;
    int64_t first = 0;
    for (const int64_t trials : {0, 20, 100, 500}) {
      effort.trial_limit = trials;
      const int64_t height = Climb(problem, effort);
      if (trials == 0) first = height;
      EXPECT_LE(height, before) << "seed " << seed;
      before = height;
    }
    lower += before < first;
  }
  EXPECT_GE(lower, 15);
}

TEST(ClimbHillTest, EveryPlanIsValid) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const std::vector<TensorRequest> requests = RandomRequests(30, 8, seed);
    const PlacementProblem problem = MakePlacementProblem(requests);
    HillClimbEffort effort;
    effort.seed = seed;
    effort.trial_limit = 50;
    MemoryPlan plan;
    plan.offsets_bytes =
        ClimbHill(problem, SortItems(problem, PlacementOrder::kByArea), effort);
    plan.height_bytes = ComputeHeight(problem, plan.offsets_bytes);
    plan.lower_bound = ComputeLowerBound(requests);
    EXPECT_THAT(ValidatePlan(requests, plan), IsOk()) << "seed " << seed;
  }
}

TEST(ClimbHillTest, StopsWhereItIsLowEnough) {
  const PlacementProblem problem = MakePlacementProblem(Packing(1));
  const std::vector<int32_t> order =
      SortItems(problem, PlacementOrder::kBySize);
  HillClimbEffort effort;
  effort.stop_at_height =
      ComputeHeight(problem, PlaceByFirstFit(problem, order));
  EXPECT_EQ(ClimbHill(problem, order, effort), PlaceByFirstFit(problem, order));
}

TEST(ClimbHillTest, StopsAtTheDeadline) {
  const PlacementProblem problem = MakePlacementProblem(Packing(2));
  const std::vector<int32_t> order =
      SortItems(problem, PlacementOrder::kBySize);
  HillClimbEffort effort;
  effort.deadline = absl::Now() - absl::Seconds(1);
  EXPECT_EQ(ClimbHill(problem, order, effort), PlaceByFirstFit(problem, order));
}

TEST(ClimbHillTest, EqualSeedsGiveEqualPlans) {
  const PlacementProblem problem = MakePlacementProblem(Packing(3));
  const std::vector<int32_t> order =
      SortItems(problem, PlacementOrder::kBySize);
  HillClimbEffort effort;
  effort.seed = 7;
  const std::vector<int64_t> plan = ClimbHill(problem, order, effort);
  EXPECT_EQ(ClimbHill(problem, order, effort), plan);
}

}  // namespace
}  // namespace trainer_manager_internal
}  // namespace footprint
