#include "footprint/trainer_manager/planner/placement_problem.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "footprint/trainer_manager/planner/generated_requests.h"
#include "gtest/gtest.h"

namespace footprint {
namespace trainer_manager_internal {
namespace {

TEST(MakePlacementProblemTest, OfNothingHasNoSections) {
  const PlacementProblem problem = MakePlacementProblem({});
  EXPECT_TRUE(problem.items.empty());
  EXPECT_EQ(problem.section_count(), 0);
  EXPECT_EQ(ComputeHeight(problem, {}), 0);
}

TEST(MakePlacementProblemTest, JoinsStepsAtWhichNothingBeginsOrEnds) {
  const PlacementProblem problem = MakePlacementProblem(
      {{"a", -100, 7, 5, 1}, {"b", 7, 1'000'000, 6, 8}, {"c", 3, 9, 7, 1}});
  EXPECT_EQ(problem.section_steps, (std::vector<int64_t>{-100, 3, 7, 9}));
  EXPECT_EQ(problem.items[0].begin, 0);
  EXPECT_EQ(problem.items[0].end, 2);
  EXPECT_EQ(problem.items[1].begin, 2);
  EXPECT_EQ(problem.items[1].end, 4);
  EXPECT_EQ(problem.items[1].size, 6);
  EXPECT_EQ(problem.items[1].alignment, 8);
  EXPECT_EQ(problem.items[2].begin, 1);
  EXPECT_EQ(problem.items[2].end, 3);
}

TEST(MakePlacementProblemTest, KeepsWhichRequestsMeet) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const std::vector<TensorRequest> requests = RandomRequests(20, 1, seed);
    const PlacementProblem problem = MakePlacementProblem(requests);
    for (size_t i = 0; i < requests.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        const bool meet = requests[i].lower_step < requests[j].upper_step &&
                          requests[j].lower_step < requests[i].upper_step;
        EXPECT_EQ(problem.items[i].begin < problem.items[j].end &&
                      problem.items[j].begin < problem.items[i].end,
                  meet)
            << "seed " << seed << ", requests " << i << " and " << j;
      }
    }
  }
}

TEST(FullestSectionTest, IsTheFirstWithMostBytes) {
  const PlacementProblem problem = MakePlacementProblem(
      {{"a", 0, 4, 10}, {"b", 2, 6, 20}, {"c", 4, 8, 10}, {"d", 7, 9, 1}});
  EXPECT_EQ(problem.section_steps[FullestSection(problem)], 2);
}

TEST(HeightOfTest, IsTheHighestTop) {
  const PlacementProblem problem =
      MakePlacementProblem({{"a", 0, 4, 10}, {"b", 2, 6, 20}, {"c", 9, 10, 3}});
  EXPECT_EQ(ComputeHeight(problem, std::vector<int64_t>{25, 5, 0}), 35);
  EXPECT_EQ(ComputeHeight(problem, std::vector<int64_t>{0, 5, 40}), 43);
}

}  // namespace
}  // namespace trainer_manager_internal
}  // namespace footprint
