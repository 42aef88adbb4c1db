#include "footprint/trainer_manager/planner/beam_sweep.h"

#include <cstdint>
#include <vector>

#include "absl/time/clock.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/planner/generated_requests.h"
#include "footprint/trainer_manager/planner/lower_bound.h"
#include "footprint/trainer_manager/planner/outward_sweep.h"
#include "footprint/trainer_manager/planner/plan_validator.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace trainer_manager_internal {
namespace {

BeamSweep::Effort Effort(int64_t height_limit, int64_t width) {
  BeamSweep::Effort effort;
  effort.height_limit = height_limit;
  effort.width = width;
  return effort;
}

TEST(BeamSweepTest, PlansNothing) {
  const PlacementProblem problem = MakePlacementProblem({});
  BeamSweep sweep(&problem);
  EXPECT_TRUE(sweep.Run(Effort(0, 4)));
  EXPECT_TRUE(sweep.offsets().empty());
}

// A plan takes a node for each tensor outside the fullest section, and more if
// many tensors are live in that section.
TEST(BeamSweepTest, APlanTakesNodesForWhatIsPlacedAndWhatLiesThere) {
  std::vector<TensorRequest> requests = {{"before", 0, 1, 1},
                                         {"after", 2, 3, 1}};
  requests.push_back({"live", 1, 2, 8});
  const PlacementProblem few = MakePlacementProblem(requests);
  EXPECT_EQ(BeamSweep(&few).NodesOfAPlan(), 2);
  for (int i = 0; i < 1000; ++i) requests.push_back({"live", 1, 2, 8});
  const PlacementProblem many = MakePlacementProblem(requests);
  EXPECT_GT(BeamSweep(&many).NodesOfAPlan(), 2);
}

// "b" and "c" must lie on the same side of "a".
TEST(BeamSweepTest, KeepsFreeBytesTogether) {
  const PlacementProblem problem = MakePlacementProblem(
      {{"a", 0, 9, 2}, {"b", 0, 4, 3}, {"c", 2, 4, 3}, {"d", 5, 8, 6}});
  BeamSweep sweep(&problem);
  ASSERT_TRUE(sweep.Run(Effort(8, 8)));
  EXPECT_EQ(ComputeHeight(problem, sweep.offsets()), 8);
  EXPECT_FALSE(sweep.Run(Effort(7, 8)));
}

TEST(BeamSweepTest, PlansHoldAndStayWithinTheLimit) {
  int64_t found = 0;
  for (uint64_t seed = 0; seed < 500; ++seed) {
    const std::vector<TensorRequest> requests =
        RandomRequests(30, seed % 2 == 0 ? 1 : 16, seed);
    const PlacementProblem problem = MakePlacementProblem(requests);
    MemoryPlan plan;
    plan.lower_bound = ComputeLowerBound(requests);
    const int64_t limit = plan.lower_bound.bytes * 5 / 4;
    BeamSweep sweep(&problem);
    BeamSweep::Effort effort = Effort(limit, 8);
    effort.seed = seed;
    if (!sweep.Run(effort)) continue;
    ++found;
    plan.offsets_bytes = sweep.offsets();
    plan.height_bytes = ComputeHeight(problem, plan.offsets_bytes);
    ASSERT_THAT(ValidatePlan(requests, plan, limit), IsOk()) << seed;
  }
  EXPECT_GT(found, 400);
}

TEST(BeamSweepTest, FindsLowerPlansOfManyShortLifespansThanSingleSweeps) {
  for (uint64_t seed = 0; seed < 5; ++seed) {
    const std::vector<TensorRequest> requests =
        SpreadRequests(LifespanShape::kSawtooth, 1000, seed);
    const PlacementProblem problem = MakePlacementProblem(requests);
    SweepEffort single;
    single.target_height = ComputeLowerBound(requests).bytes;
    const int64_t height =
        ComputeHeight(problem, PlaceOutwards(problem, single));
    BeamSweep sweep(&problem);
    EXPECT_TRUE(sweep.Run(
        Effort(single.target_height + (height - single.target_height) / 2, 64)))
        << seed;
  }
}

TEST(BeamSweepTest, EqualCallsGiveEqualPlans) {
  const std::vector<TensorRequest> requests =
      SpreadRequests(LifespanShape::kSawtooth, 200, 1);
  const PlacementProblem problem = MakePlacementProblem(requests);
  const int64_t limit = ComputeLowerBound(requests).bytes * 11 / 10;
  BeamSweep first(&problem);
  BeamSweep second(&problem);
  ASSERT_TRUE(first.Run(Effort(limit, 16)));
  ASSERT_TRUE(second.Run(Effort(limit, 16)));
  EXPECT_EQ(first.offsets(), second.offsets());
  EXPECT_EQ(first.node_count(), second.node_count());
}

TEST(BeamSweepTest, GivesUpAtItsLimits) {
  const std::vector<TensorRequest> requests =
      SpreadRequests(LifespanShape::kSawtooth, 500, 1);
  const PlacementProblem problem = MakePlacementProblem(requests);
  const int64_t limit = ComputeLowerBound(requests).bytes * 2;
  BeamSweep sweep(&problem);
  BeamSweep::Effort effort = Effort(limit, 16);
  EXPECT_TRUE(sweep.Run(effort));
  EXPECT_LE(sweep.node_count(), 16 * sweep.NodesOfAPlan());
  const int64_t before = sweep.node_count();
  effort.node_limit = 100;
  EXPECT_FALSE(sweep.Run(effort));
  EXPECT_EQ(sweep.node_count(), before + 100);
  effort.node_limit = 1'000'000;
  effort.deadline = absl::Now() - absl::Seconds(1);
  EXPECT_FALSE(sweep.Run(effort));
}

}  // namespace
}  // namespace trainer_manager_internal
}  // namespace footprint
