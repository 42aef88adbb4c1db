#include "footprint/memo/cell_orders.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint::memo_internal {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

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

TEST(CellOrdersTest, HoldsOneAxisAndGoesBackAndForthPastTheOther) {
  // Cells 0 to 5 are rows 0, 1, 2 with columns 3, 4. With room for two values a
  // row is held while columns go forth, then the next while they go back.
  const std::vector<std::vector<int>> orders =
      SerpentineOrders(Grid(3, 2), /*budget_bytes=*/2);
  ASSERT_EQ(orders.size(), 2u);
  EXPECT_THAT(orders[0], ElementsAre(0, 1, 3, 2, 4, 5));
  EXPECT_THAT(orders[1], ElementsAre(0, 2, 4, 5, 3, 1));
}

TEST(CellOrdersTest, HoldsAsMuchOfAnAxisAsFits) {
  // Room for three values: two rows are held while a column passes them.
  const std::vector<std::vector<int>> orders =
      SerpentineOrders(Grid(4, 2), /*budget_bytes=*/3);
  EXPECT_THAT(orders[0], ElementsAre(0, 2, 1, 3, 5, 7, 4, 6));
}

TEST(CellOrdersTest, NothingHasNoOrders) {
  EXPECT_THAT(SerpentineOrders(ScheduleRequest(), 1), IsEmpty());
}

TEST(CellOrdersTest, EachOrderNamesEachCellOnce) {
  std::mt19937 random(11);
  for (int round = 0; round < 200; ++round) {
    ScheduleRequest request;
    const int value_count = 1 + static_cast<int>(random() % 12);
    for (int i = 0; i < value_count; ++i) {
      request.values.push_back({"v", 1 + static_cast<int>(random() % 5)});
    }
    const size_t cell_count = random() % 40;
    for (size_t i = 0; i < cell_count; ++i) {
      PlannedCell cell;
      for (size_t uses = random() % 4; uses > 0; --uses) {
        cell.values.push_back(static_cast<int>(random()) & INT32_MAX);
        cell.values.back() %= value_count;
      }
      request.cells.push_back(cell);
    }
    std::vector<int> all(cell_count);
    std::iota(all.begin(), all.end(), 0);
    for (std::vector<int> order :
         SerpentineOrders(request, static_cast<int>(random() % 30))) {
      std::sort(order.begin(), order.end());
      ASSERT_EQ(order, all) << round;
    }
  }
}

}  // namespace
}  // namespace footprint::memo_internal
