#include "footprint/trainer_manager/planner/merged_items.h"

#include <cstdint>
#include <vector>

#include "footprint/base/testing/status_matchers.h"
#include "footprint/trainer_manager/planner/generated_requests.h"
#include "footprint/trainer_manager/planner/lower_bound.h"
#include "footprint/trainer_manager/planner/ordered_placement.h"
#include "footprint/trainer_manager/planner/plan.h"
#include "footprint/trainer_manager/planner/plan_validator.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace trainer_manager_internal {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;

MergedItems Merge(const std::vector<TensorRequest>& requests,
                  uint64_t seed = 0) {
  return MergedItems(MakePlacementProblem(requests), seed);
}

TEST(MergedItemsTest, NothingIsNothing) {
  const MergedItems merged = Merge({});
  EXPECT_TRUE(merged.problem().items.empty());
  EXPECT_TRUE(merged.OffsetsOfItems({}).empty());
}

TEST(MergedItemsTest, JoinsWhatTakesThePlaceOfAnother) {
  const MergedItems merged = Merge({{"a", 0, 2, 32}, {"b", 2, 5, 32}});
  ASSERT_EQ(merged.problem().items.size(), 1);
  EXPECT_EQ(merged.problem().items[0].size, 32);
  EXPECT_THAT(merged.OffsetsOfItems({100}), ElementsAre(100, 100));
}

TEST(MergedItemsTest, LeavesOthersAlone) {
  const MergedItems merged =
      Merge({{"a", 0, 2, 32}, {"b", 2, 5, 33}, {"c", 4, 6, 32}});
  EXPECT_EQ(merged.problem().items.size(), 3);
  EXPECT_THAT(merged.OffsetsOfItems({7, 8, 9}), ElementsAre(7, 8, 9));
}

TEST(MergedItemsTest, StacksTwinsTheMoreAlignedLower) {
  const MergedItems merged = Merge({{"a", 0, 2, 6, 2}, {"b", 0, 2, 8, 8}});
  ASSERT_EQ(merged.problem().items.size(), 1);
  EXPECT_EQ(merged.problem().items[0].size, 14);
  EXPECT_EQ(merged.problem().items[0].alignment, 8);
  EXPECT_THAT(merged.OffsetsOfItems({16}), ElementsAre(24, 16));
}

TEST(MergedItemsTest, LeavesTwinsThatAlignmentKeepsApart) {
  const MergedItems merged = Merge({{"a", 0, 2, 6, 4}, {"b", 0, 2, 9, 8}});
  EXPECT_EQ(merged.problem().items.size(), 2);
}

// Two of the three twins together are as large as their successor.
TEST(MergedItemsTest, StacksThoseTwinsThatHaveANeighbour) {
  const MergedItems merged = Merge({{"a", 0, 2, 500},
                                    {"b", 0, 2, 401},
                                    {"c", 0, 2, 300},
                                    {"next", 2, 5, 800},
                                    {"beside", 1, 3, 700}});
  ASSERT_EQ(merged.problem().items.size(), 3);
  const std::vector<int64_t> offsets = merged.OffsetsOfItems({0, 1000, 2000});
  EXPECT_EQ(offsets[2], offsets[0] + 500);
  EXPECT_EQ(offsets[3], offsets[0]);
}

TEST(MergedItemsTest, FoldsAPinwheel) {
  const MergedItems merged = Merge({{"centre", 3, 5, 20},
                                    {"top", 3, 9, 30},
                                    {"left", 0, 3, 50},
                                    {"bottom", 0, 5, 40},
                                    {"right", 5, 9, 60}});
  ASSERT_EQ(merged.problem().items.size(), 1);
  EXPECT_EQ(merged.problem().items[0].size, 90);
  EXPECT_THAT(merged.OffsetsOfItems({10}), ElementsAre(50, 70, 50, 10, 10));
}

TEST(MergedItemsTest, LeavesAPinwheelWhoseRightSideEndsEarly) {
  EXPECT_EQ(Merge({{"centre", 3, 5, 20},
                   {"top", 3, 9, 30},
                   {"left", 0, 3, 50},
                   {"bottom", 0, 5, 40},
                   {"right", 5, 8, 60}})
                .problem()
                .items.size(),
            5);
}

// The alignments allow only one of two stacks. No tensor gets lost.
TEST(MergedItemsTest, StacksOnlyWhatAlignmentAllows) {
  const MergedItems merged = Merge({{"a", 0, 2, 500, 1},
                                    {"b", 0, 2, 401, 1},
                                    {"c", 2, 5, 601, 4},
                                    {"d", 2, 5, 300, 4}});
  std::vector<int64_t> offsets(merged.problem().items.size());
  for (size_t i = 0; i < offsets.size(); ++i) offsets[i] = 10'000 * (i + 1);
  EXPECT_THAT(merged.OffsetsOfItems(offsets), Each(Ge(10'000)));
}

TEST(MergedItemsTest, FoldsWhatWasCutThroughIntoFew) {
  size_t whole = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const PerfectPacking packing =
        CutPerfectPacking(500, 1 << 20, CutStyle::kGuillotine, seed);
    whole += Merge(packing.requests).problem().items.size() == 1;
  }
  EXPECT_GT(whole, 10);
}

TEST(MergedItemsTest, FoldsPinwheelsInPinwheels) {
  int64_t left = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const PerfectPacking packing =
        CutPerfectPacking(500, 1 << 20, CutStyle::kPinwheel, seed);
    left +=
        static_cast<int64_t>(Merge(packing.requests).problem().items.size());
  }
  EXPECT_LT(left, 20 * 50);
}

// A plan of the merged problem is a plan of all items, and no higher.
void ExpectPlansHold(const std::vector<TensorRequest>& requests,
                     uint64_t seed) {
  const MergedItems merged = Merge(requests, seed);
  const std::vector<int64_t> offsets = PlaceByFirstFit(
      merged.problem(), SortItems(merged.problem(), PlacementOrder::kBySize));
  MemoryPlan plan;
  plan.offsets_bytes = merged.OffsetsOfItems(offsets);
  plan.height_bytes =
      ComputeHeight(MakePlacementProblem(requests), plan.offsets_bytes);
  plan.lower_bound = ComputeLowerBound(requests);
  ASSERT_THAT(ValidatePlan(requests, plan), IsOk());
  EXPECT_LE(plan.height_bytes, ComputeHeight(merged.problem(), offsets));
}

TEST(MergedItemsTest, PlansOfMergedItemsHoldForAll) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    ExpectPlansHold(RandomRequests(40, 16, seed), seed % 4);
  }
  for (uint64_t seed = 0; seed < 20; ++seed) {
    ExpectPlansHold(
        CutLoosePacking(100, 5000, CutStyle::kPinwheel, seed).requests, seed);
  }
}

TEST(MergedItemsTest, EqualSeedsMergeEqually) {
  const std::vector<TensorRequest> requests =
      CutLoosePacking(200, 5000, CutStyle::kGuillotine, 3).requests;
  const MergedItems first = Merge(requests, 3);
  const MergedItems second = Merge(requests, 3);
  ASSERT_EQ(first.problem().items.size(), second.problem().items.size());
  const std::vector<int64_t> offsets(first.problem().items.size(), 0);
  EXPECT_EQ(first.OffsetsOfItems(offsets), second.OffsetsOfItems(offsets));
  EXPECT_GT(first.problem().items.size(),
            Merge(requests, 0).problem().items.size());
}

}  // namespace
}  // namespace trainer_manager_internal
}  // namespace footprint
