#include "footprint/trainer_manager/planner/capacity_search.h"

#include <cstdint>
#include <vector>

#include "footprint/trainer_manager/planner/brute_force_planner.h"
#include "footprint/trainer_manager/planner/generated_requests.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace trainer_manager_internal {
namespace {

using Outcome = ExactSearch::Outcome;

CapacitySearch::Effort Effort(int64_t node_limit) {
  CapacitySearch::Effort effort;
  effort.node_limit = node_limit;
  return effort;
}

// In every turn, merged or not, the search finds no plan below the minimum and
// proves nothing against the minimum, and it soon has an answer.
TEST(CapacitySearchTest, AgreesWithBruteForceInEveryTurn) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const std::vector<TensorRequest> requests =
        RandomRequests(seed % 50 == 0 ? 8 : 7, seed % 2 == 0 ? 1 : 8, seed);
    const PlacementProblem problem = MakePlacementProblem(requests);
    const int64_t minimum = MinimumHeightByBruteForce(requests);
    CapacitySearch search(&problem);
    bool is_proved = false;
    bool is_found = false;
    for (int64_t turn = 0; turn < 2 * CapacitySearch::kTurnsOfARound; ++turn) {
      const Outcome below = search.Try(minimum - 1, turn, Effort(100'000));
      ASSERT_NE(below, Outcome::kFound) << "seed " << seed;
      is_proved = is_proved || below == Outcome::kInfeasible;
      const Outcome outcome = search.Try(minimum, turn, Effort(100'000));
      ASSERT_NE(outcome, Outcome::kInfeasible) << "seed " << seed;
      if (outcome != Outcome::kFound) continue;
      is_found = true;
      ASSERT_LE(ComputeHeight(problem, search.offsets()), minimum);
    }
    EXPECT_TRUE(is_proved) << "seed " << seed;
    EXPECT_TRUE(is_found) << "seed " << seed;
  }
}

TEST(CapacitySearchTest, FindsByMergingWhatIsCutThrough) {
  const PerfectPacking packing =
      CutPerfectPacking(500, 1 << 20, CutStyle::kGuillotine, 5);
  const PlacementProblem problem = MakePlacementProblem(packing.requests);
  CapacitySearch search(&problem);
  ASSERT_EQ(search.Try(packing.height_bytes, 1, Effort(10)), Outcome::kFound);
  EXPECT_EQ(ComputeHeight(problem, search.offsets()), packing.height_bytes);
  EXPECT_LT(search.node_count(), 10);
}

TEST(CapacitySearchTest, GivesUpAtItsLimit) {
  const PerfectPacking packing =
      CutPerfectPacking(500, 1 << 20, CutStyle::kPinwheel, 306);
  const PlacementProblem problem = MakePlacementProblem(packing.requests);
  CapacitySearch search(&problem);
  for (int64_t turn = 0; turn < 4; ++turn) {
    EXPECT_EQ(search.Try(packing.height_bytes, turn, Effort(5)),
              Outcome::kGaveUp);
  }
  EXPECT_GE(search.node_count(), 10);
  EXPECT_LE(search.node_count(), 20);
}

}  // namespace
}  // namespace trainer_manager_internal
}  // namespace footprint
