#include "footprint/trainer_manager/planner/exact_search.h"

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "absl/time/clock.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/planner/brute_force_planner.h"
#include "footprint/trainer_manager/planner/generated_requests.h"
#include "footprint/trainer_manager/planner/lower_bound.h"
#include "footprint/trainer_manager/planner/plan_validator.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace trainer_manager_internal {
namespace {

constexpr CornerOrder kCornerOrders[] = {
    CornerOrder::kFewestThenLowest, CornerOrder::kFewestThenTightest,
    CornerOrder::kForcedThenLowest, CornerOrder::kForcedThenFirst,
    CornerOrder::kForcedThenLast};
constexpr ItemOrder kItemOrders[] = {ItemOrder::kByArea, ItemOrder::kByLifespan,
                                     ItemOrder::kBySize};

ExactSearch::Effort Thorough() {
  ExactSearch::Effort effort;
  effort.node_limit = 1'000'000;
  return effort;
}

void ExpectValid(const std::vector<TensorRequest>& requests,
                 const std::vector<int64_t>& offsets, int64_t capacity) {
  MemoryPlan plan;
  plan.offsets_bytes = offsets;
  plan.height_bytes = ComputeHeight(MakePlacementProblem(requests), offsets);
  plan.lower_bound = ComputeLowerBound(requests);
  const absl::Status status = ValidatePlan(requests, plan, capacity);
  EXPECT_THAT(status, IsOk());
}

// At every height around the minimum, each search style must agree with brute
// force.
void ExpectEqualsBruteForce(int64_t largest_alignment, uint64_t seed) {
  const std::vector<TensorRequest> requests =
      RandomRequests(seed % 50 == 0 ? 8 : 7, largest_alignment, seed);
  const PlacementProblem problem = MakePlacementProblem(requests);
  const int64_t minimum = MinimumHeightByBruteForce(requests);
  ExactSearch search(&problem);
  ExactSearch::Effort effort = Thorough();
  effort.corner_order = kCornerOrders[seed % 5];
  effort.item_order = kItemOrders[seed / 5 % 3];
  effort.seed = seed % 2 == 0 ? 0 : seed;
  for (const int64_t slack : {-2, -1, 0, 1, 5}) {
    const int64_t capacity = minimum + slack;
    if (capacity < 0) continue;
    ASSERT_EQ(search.Search(capacity, effort),
              slack < 0 ? ExactSearch::Outcome::kInfeasible
                        : ExactSearch::Outcome::kFound)
        << "seed " << seed << ", capacity " << capacity << ", minimum "
        << minimum;
    if (slack >= 0) ExpectValid(requests, search.offsets(), capacity);
  }
}

TEST(ExactSearchTest, EqualsBruteForce) {
  for (uint64_t seed = 0; seed < 2000; ++seed) ExpectEqualsBruteForce(1, seed);
}

TEST(ExactSearchTest, EqualsBruteForceWithAlignment) {
  for (uint64_t seed = 0; seed < 2000; ++seed) ExpectEqualsBruteForce(8, seed);
}

// These are too large for brute force, so the styles must agree with each
// other.
TEST(ExactSearchTest, StylesAgree) {
  size_t decided = 0;
  size_t infeasible = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const std::vector<TensorRequest> requests = RandomRequests(13, 8, seed);
    const PlacementProblem problem = MakePlacementProblem(requests);
    const int64_t bound = ComputeLowerBound(requests).bytes;
    for (const int64_t capacity : {bound, bound + 1}) {
      std::set<ExactSearch::Outcome> outcomes;
      for (const CornerOrder corner_order : kCornerOrders) {
        for (const ItemOrder item_order : kItemOrders) {
          ExactSearch search(&problem);
          ExactSearch::Effort effort;
          effort.node_limit = 5'000;
          effort.corner_order = corner_order;
          effort.item_order = item_order;
          const ExactSearch::Outcome outcome = search.Search(capacity, effort);
          if (outcome == ExactSearch::Outcome::kGaveUp) continue;
          outcomes.insert(outcome);
          if (outcome == ExactSearch::Outcome::kFound) {
            ExpectValid(requests, search.offsets(), capacity);
          }
        }
      }
      EXPECT_LE(outcomes.size(), 1) << "seed " << seed;
      decided += outcomes.size();
      infeasible += outcomes.count(ExactSearch::Outcome::kInfeasible);
    }
  }
  EXPECT_GT(infeasible, 5);
  EXPECT_GT(decided, 60);
}

TEST(ExactSearchTest, PacksPerfectlyWhatWasCut) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const PerfectPacking packing =
        CutPerfectPacking(60, 1 << 20, CutStyle::kPinwheel, seed);
    const PlacementProblem problem = MakePlacementProblem(packing.requests);
    ExactSearch search(&problem);
    ASSERT_EQ(search.Search(packing.height_bytes, Thorough()),
              ExactSearch::Outcome::kFound)
        << "seed " << seed;
    ExpectValid(packing.requests, search.offsets(), packing.height_bytes);
  }
}

TEST(ExactSearchTest, GivesUpAtItsLimits) {
  const PerfectPacking packing =
      CutPerfectPacking(200, 1 << 20, CutStyle::kPinwheel, 1);
  const PlacementProblem problem = MakePlacementProblem(packing.requests);
  ExactSearch search(&problem);
  ExactSearch::Effort effort;
  effort.node_limit = 100;
  EXPECT_EQ(search.Search(packing.height_bytes, effort),
            ExactSearch::Outcome::kGaveUp);
  EXPECT_EQ(search.node_count(), 100);
  effort.node_limit = 1'000'000'000;
  effort.deadline = absl::Now() - absl::Seconds(1);
  EXPECT_EQ(search.Search(packing.height_bytes, effort),
            ExactSearch::Outcome::kGaveUp);
  EXPECT_LT(search.node_count(), 1000);
}

TEST(ExactSearchTest, RemembersAcrossCallsWhatItRuledOut) {
  // Some instances need more than a comparison with the live bytes.
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const std::vector<TensorRequest> requests = RandomRequests(12, 8, seed);
    const PlacementProblem problem = MakePlacementProblem(requests);
    const int64_t bound = ComputeLowerBound(requests).bytes;
    ExactSearch search(&problem);
    if (search.Search(bound, Thorough()) != ExactSearch::Outcome::kInfeasible) {
      continue;
    }
    const int64_t first_nodes = search.node_count();
    if (first_nodes < 10) continue;
    EXPECT_EQ(search.Search(bound, Thorough()),
              ExactSearch::Outcome::kInfeasible);
    EXPECT_EQ(search.node_count(), first_nodes + 1);
    return;
  }
  FAIL() << "no instance needed a search";
}

TEST(ExactSearchTest, EqualSeedsGiveEqualPlans) {
  const PerfectPacking packing =
      CutPerfectPacking(80, 1 << 20, CutStyle::kGuillotine, 4);
  const PlacementProblem problem = MakePlacementProblem(packing.requests);
  ExactSearch::Effort effort = Thorough();
  effort.seed = 5;
  ExactSearch first(&problem);
  ExactSearch second(&problem);
  ASSERT_EQ(first.Search(packing.height_bytes, effort),
            ExactSearch::Outcome::kFound);
  ASSERT_EQ(second.Search(packing.height_bytes, effort),
            ExactSearch::Outcome::kFound);
  EXPECT_EQ(first.offsets(), second.offsets());
  EXPECT_EQ(first.node_count(), second.node_count());
}

}  // namespace
}  // namespace trainer_manager_internal
}  // namespace footprint
