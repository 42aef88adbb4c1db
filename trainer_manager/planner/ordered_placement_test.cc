#include "footprint/trainer_manager/planner/ordered_placement.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "absl/time/time.h"
#include "footprint/trainer_manager/planner/generated_requests.h"
#include "gtest/gtest.h"

namespace footprint {
namespace trainer_manager_internal {
namespace {

constexpr PlacementOrder kOrders[] = {
    PlacementOrder::kByStart, PlacementOrder::kBySize,
    PlacementOrder::kByLifespan, PlacementOrder::kByArea};

bool Meet(const PlacementItem& a, const PlacementItem& b) {
  return a.begin < b.end && b.begin < a.end;
}

// Follows the definition: takes the least multiple of the alignment at which no
// tensor is hit.
std::vector<int64_t> FirstFitByTryingEveryOffset(
    const PlacementProblem& problem, const std::vector<int32_t>& order) {
  std::vector<int64_t> offsets(problem.items.size(), -1);
  for (const int32_t index : order) {
    const PlacementItem& item = problem.items[index];
    const auto is_hit = [&](int64_t offset) {
      for (size_t i = 0; i < problem.items.size(); ++i) {
        const PlacementItem& other = problem.items[i];
        if (offsets[i] >= 0 && Meet(item, other) &&
            offset < offsets[i] + other.size &&
            offsets[i] < offset + item.size) {
          return true;
        }
      }
      return false;
    };
    int64_t offset = 0;
    while (is_hit(offset)) offset += item.alignment;
    offsets[index] = offset;
  }
  return offsets;
}

TEST(PlaceByFirstFitTest, EqualsTheDefinition) {
  std::mt19937_64 random(1);
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    const PlacementProblem problem =
        MakePlacementProblem(RandomRequests(25, seed % 2 == 0 ? 1 : 16, seed));
    std::vector<int32_t> order(problem.items.size());
    std::iota(order.begin(), order.end(), 0);
    for (size_t i = order.size(); i > 1; --i) {
      std::swap(order[i - 1], order[random() % i]);
    }
    EXPECT_EQ(PlaceByFirstFit(problem, order),
              FirstFitByTryingEveryOffset(problem, order))
        << "seed " << seed;
  }
}

TEST(PlaceByFirstFitTest, TakesTheLowestGapThatJustSuffices) {
  const PlacementProblem problem = MakePlacementProblem(
      {{"x", 0, 4, 2}, {"y", 0, 2, 5}, {"z", 1, 6, 3}, {"w", 2, 3, 5}});
  EXPECT_EQ(PlaceByFirstFit(problem, {0, 1, 2, 3}),
            (std::vector<int64_t>{0, 2, 7, 2}));
}

TEST(PlaceByFirstFitTest, AlignsUpwards) {
  const PlacementProblem problem = MakePlacementProblem(
      {{"a", 0, 2, 3, 1}, {"b", 0, 2, 5, 8}, {"c", 0, 2, 5, 1}});
  EXPECT_EQ(PlaceByFirstFit(problem, {0, 1, 2}),
            (std::vector<int64_t>{0, 8, 3}));
}

TEST(PlaceByFirstFitTest, PlacesNothingAfterTheDeadline) {
  std::vector<TensorRequest> requests;
  for (int64_t i = 0; i < 300; ++i) requests.push_back({"", i, i + 2, 10});
  const PlacementProblem problem = MakePlacementProblem(requests);
  const std::vector<int32_t> order =
      SortItems(problem, PlacementOrder::kBySize);
  EXPECT_EQ(PlaceByFirstFit(problem, order).size(), 300u);
  EXPECT_TRUE(PlaceByFirstFit(problem, order, absl::InfinitePast()).empty());
}

TEST(PlaceSideBySideTest, SharesNothingAndAligns) {
  const PlacementProblem problem = MakePlacementProblem(
      {{"a", 0, 2, 3, 1}, {"b", 4, 6, 5, 8}, {"c", 8, 9, 1, 1}});
  EXPECT_EQ(PlaceSideBySide(problem), (std::vector<int64_t>{0, 8, 13}));
}

TEST(OrderOfTest, IsAPermutation) {
  for (const PlacementOrder order : kOrders) {
    const PlacementProblem problem =
        MakePlacementProblem(RandomRequests(60, 1, 3));
    std::vector<int32_t> sorted = SortItems(problem, order);
    std::sort(sorted.begin(), sorted.end());
    for (size_t i = 0; i < sorted.size(); ++i) {
      EXPECT_EQ(sorted[i], static_cast<int32_t>(i));
    }
    EXPECT_EQ(sorted.size(), problem.items.size());
  }
}

TEST(OrderOfTest, OrdersByItsKeyThenByTheOthersThenByThePlaceInTheList) {
  const PlacementProblem problem = MakePlacementProblem({{"a", 2, 3, 9},
                                                         {"b", 0, 3, 2},
                                                         {"c", 0, 1, 9},
                                                         {"d", 0, 1, 9},
                                                         {"e", 1, 3, 5}});
  EXPECT_EQ(SortItems(problem, PlacementOrder::kByStart),
            (std::vector<int32_t>{1, 2, 3, 4, 0}));
  EXPECT_EQ(SortItems(problem, PlacementOrder::kBySize),
            (std::vector<int32_t>{0, 2, 3, 4, 1}));
  EXPECT_EQ(SortItems(problem, PlacementOrder::kByLifespan),
            (std::vector<int32_t>{1, 4, 0, 2, 3}));
  EXPECT_EQ(SortItems(problem, PlacementOrder::kByArea),
            (std::vector<int32_t>{4, 0, 2, 3, 1}));
}

}  // namespace
}  // namespace trainer_manager_internal
}  // namespace footprint
