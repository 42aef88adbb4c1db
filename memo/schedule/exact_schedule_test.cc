#include "footprint/memo/schedule/exact_schedule.h"

#include <numeric>
#include <vector>

#include "footprint/memo/schedule/belady_schedule.h"
#include "gtest/gtest.h"

namespace footprint::memo_internal {
namespace {

ScheduleRequest Grid(int rows, int columns) {
  ScheduleRequest request;
  for (int i = 0; i < rows + columns; ++i) request.values.push_back({"v", 1});
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      request.cells.push_back({"cell", {row, rows + column}});
    }
  }
  return request;
}

Schedule InGivenOrder(const ScheduleRequest& request, int64_t budget_bytes) {
  std::vector<int> order(request.cells.size());
  std::iota(order.begin(), order.end(), 0);
  return ScheduleByBelady(request, order, budget_bytes);
}

TEST(ExactScheduleTest, FindsWhatReorderingSaves) {
  ScheduleRequest request = Grid(3, 2);
  request.may_reorder = true;
  const Schedule known = InGivenOrder(request, 2);
  ASSERT_EQ(known.load_count, 9);
  const ExactSearchResult found = SearchExactly(request, 2, known);
  EXPECT_TRUE(found.is_complete);
  ASSERT_TRUE(found.better.has_value());
  EXPECT_EQ(found.better->load_cost, 7);
  EXPECT_EQ(found.better->steps.size(), 6u);
}

TEST(ExactScheduleTest, ShowsThatNothingIsBetter) {
  // Belady's rule is optimal for equal sizes in the given order.
  const ScheduleRequest request = Grid(3, 2);
  const ExactSearchResult found =
      SearchExactly(request, 2, InGivenOrder(request, 2));
  EXPECT_TRUE(found.is_complete);
  EXPECT_FALSE(found.better.has_value());
}

TEST(ExactScheduleTest, BeatsBeladyWhereSizesDiffer) {
  // Before cell 3 the large or the small value must go. In Belady by bytes both
  // have the same gain, and it evicts the large one, which is needed next; then
  // it loads every value twice except one. If the small one goes, the large one
  // stays.
  ScheduleRequest request;
  request.values = {{"other", 1}, {"large", 2}, {"small", 1}};
  request.cells = {{"1", {1}}, {"2", {2}}, {"3", {0}},
                   {"4", {1}}, {"5", {2}}, {"6", {0}}};
  const Schedule known = InGivenOrder(request, 3);
  ASSERT_EQ(known.load_cost, 5);
  const ExactSearchResult found = SearchExactly(request, 3, known);
  EXPECT_TRUE(found.is_complete);
  ASSERT_TRUE(found.better.has_value());
  EXPECT_EQ(found.better->load_cost, 4);
}

TEST(ExactScheduleTest, StopsWhereThereIsTooMuch) {
  ScheduleRequest request = Grid(20, 10);
  request.may_reorder = true;
  const ExactSearchResult found =
      SearchExactly(request, 6, InGivenOrder(request, 6));
  EXPECT_FALSE(found.is_complete);
}

TEST(ExactScheduleTest, NothingIsBetterThanNoCells) {
  for (bool may_reorder : {false, true}) {
    ScheduleRequest request = Grid(0, 0);
    request.may_reorder = may_reorder;
    const ExactSearchResult found = SearchExactly(request, 0, Schedule());
    EXPECT_TRUE(found.is_complete);
    EXPECT_FALSE(found.better.has_value());
  }
}

}  // namespace
}  // namespace footprint::memo_internal
