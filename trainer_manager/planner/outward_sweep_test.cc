#include "footprint/trainer_manager/planner/outward_sweep.h"

#include <cstdint>
#include <limits>
#include <vector>

#include "absl/time/time.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/planner/generated_requests.h"
#include "footprint/trainer_manager/planner/lower_bound.h"
#include "footprint/trainer_manager/planner/plan_validator.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace trainer_manager_internal {
namespace {

std::vector<int64_t> Sweep(const std::vector<TensorRequest>& requests) {
  SweepEffort effort;
  effort.target_height = ComputeLowerBound(requests).bytes;
  return PlaceOutwards(MakePlacementProblem(requests), effort);
}

int64_t Height(const std::vector<TensorRequest>& requests,
               const std::vector<int64_t>& offsets) {
  return ComputeHeight(MakePlacementProblem(requests), offsets);
}

TEST(PlaceOutwardsTest, PlacesNothing) { EXPECT_TRUE(Sweep({}).empty()); }

TEST(PlaceOutwardsTest, StacksTheFullestSectionTheLongestLivedLowest) {
  EXPECT_EQ(Sweep({{"a", 2, 3, 7}, {"b", 0, 9, 5}, {"c", 1, 5, 6}}),
            (std::vector<int64_t>{11, 0, 5}));
}

TEST(PlaceOutwardsTest, PutsShortLivedTensorsAtTheHighEnd) {
  // The fullest step is 4. "later" begins after "peak" has ended.
  EXPECT_EQ(Sweep({{"base", 0, 9, 5}, {"peak", 4, 5, 20}, {"later", 6, 7, 3}}),
            (std::vector<int64_t>{0, 5, 22}));
}

TEST(PlaceOutwardsTest, PutsLongLivedTensorsAtTheLowEndOnBothSides) {
  const std::vector<int64_t> offsets = Sweep({{"peak", 20, 21, 20},
                                              {"before", 1, 20, 8},
                                              {"a", 2, 4, 1},
                                              {"b", 6, 8, 1},
                                              {"after", 21, 40, 9},
                                              {"c", 23, 24, 1},
                                              {"d", 25, 26, 1},
                                              {"e", 27, 28, 1},
                                              {"f", 12, 13, 1}});
  EXPECT_EQ(offsets[1], 0);
  EXPECT_EQ(offsets[4], 0);
}

TEST(PlaceOutwardsTest, EveryPlanIsValid) {
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    const std::vector<TensorRequest> requests =
        RandomRequests(40, int64_t{1} << seed % 5, seed);
    MemoryPlan plan;
    plan.lower_bound = ComputeLowerBound(requests);
    plan.offsets_bytes = Sweep(requests);
    plan.height_bytes = Height(requests, plan.offsets_bytes);
    const absl::Status status = ValidatePlan(requests, plan);
    ASSERT_THAT(status, IsOk()) << "seed " << seed;
  }
}

// This is what outward sweeps are for.
TEST(PlaceOutwardsTest, MeetsTheBoundOnNearlyEveryTrainingGraph) {
  for (const NetworkShape shape :
       {NetworkShape::kChain, NetworkShape::kResidual, NetworkShape::kUNet}) {
    int64_t met = 0;
    for (uint64_t seed = 0; seed < 100; ++seed) {
      const std::vector<TensorRequest> requests =
          TrainingRequests(shape, 300, seed);
      met += Height(requests, Sweep(requests)) ==
             ComputeLowerBound(requests).bytes;
    }
    EXPECT_GE(met, shape == NetworkShape::kUNet ? 92 : 96)
        << static_cast<int>(shape);
  }
}

TEST(PlaceOutwardsTest, MoreEffortIsNeverWorse) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const std::vector<TensorRequest> requests =
        CutPerfectPacking(40, 1000, CutStyle::kPinwheel, seed).requests;
    const PlacementProblem problem = MakePlacementProblem(requests);
    SweepEffort effort;
    effort.target_height = 1000;
    effort.stack_limit = 2;
    const int64_t little =
        ComputeHeight(problem, PlaceOutwards(problem, effort));
    effort.stack_limit = 30;
    EXPECT_LE(ComputeHeight(problem, PlaceOutwards(problem, effort)), little);
  }
}

TEST(PlaceOutwardsTest, EqualSeedsGiveEqualPlans) {
  const std::vector<TensorRequest> requests =
      CutPerfectPacking(60, 1000, CutStyle::kGuillotine, 1).requests;
  EXPECT_EQ(Sweep(requests), Sweep(requests));
}

TEST(PlaceOutwardsTest, PlacesNothingAfterTheDeadline) {
  const PlacementProblem problem =
      MakePlacementProblem({{"a", 0, 2, 5}, {"b", 1, 3, 5}});
  SweepEffort effort;
  EXPECT_FALSE(PlaceOutwards(problem, effort).empty());
  effort.deadline = absl::InfinitePast();
  EXPECT_TRUE(PlaceOutwards(problem, effort).empty());
}

TEST(PlaceOutwardsTest, StaysWithin64Bits) {
  constexpr int64_t kMaximum = std::numeric_limits<int64_t>::max();
  const PlacementProblem problem =
      MakePlacementProblem({{"a", 0, 2, kMaximum / 2},
                            {"b", 2, 4, kMaximum / 2 - 100},
                            {"c", 3, 5, 90, 8},
                            {"d", 4, 9, 5}});
  for (const int64_t target :
       {int64_t{0}, kMaximum / 2 + 7, kMaximum - 1, kMaximum}) {
    SweepEffort effort;
    effort.target_height = target;
    const std::vector<int64_t> offsets = PlaceOutwards(problem, effort);
    for (size_t i = 0; i < offsets.size(); ++i) {
      EXPECT_GE(offsets[i], 0) << target;
      EXPECT_LE(offsets[i], kMaximum - problem.items[i].size) << target;
    }
  }
}

}  // namespace
}  // namespace trainer_manager_internal
}  // namespace footprint
