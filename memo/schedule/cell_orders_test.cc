#include "footprint/memo/schedule/cell_orders.h"

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

// 40 axes of three values: their combinations have no number of 64 bits.
TEST(CellOrdersTest, ManyAxesAreOrderedToo) {
  ScheduleRequest request;
  for (int i = 0; i < 120; ++i) request.values.push_back({"v", 1});
  for (int cell = 0; cell < 9; ++cell) {
    PlannedCell& added = request.cells.emplace_back();
    for (int axis = 0; axis < 40; ++axis) {
      int rank = cell % 3;  // the fastest axis: the last
      if (axis == 38) rank = cell / 3;
      if (axis < 38) rank = 0;
      added.values.push_back(3 * axis + rank);
    }
  }
  // One of each of the first axes stays; the last two go forth and back.
  const std::vector<std::vector<int>> orders =
      SerpentineOrders(request, /*budget_bytes=*/40);
  ASSERT_EQ(orders.size(), 40u);
  EXPECT_THAT(orders[0], ElementsAre(0, 1, 2, 5, 4, 3, 6, 7, 8));
}

// The order that walks the axes forth and back, by the definition: digits of
// the cell's number, reflected where the number of the digits before is odd.
TEST(CellOrdersTest, IsTheReflectedOrder) {
  ScheduleRequest request;
  // Axes of 2, 3, 2 and 4 values.
  const std::vector<int> first = {0, 2, 5, 7};
  for (int i = 0; i < 11; ++i) request.values.push_back({"v", 1});
  for (int cell = 0; cell < 48; ++cell) {
    const int digits[] = {cell / 24, cell / 8 % 3, cell / 4 % 2, cell % 4};
    PlannedCell& added = request.cells.emplace_back();
    for (int axis = 0; axis < 4; ++axis) {
      added.values.push_back(first[static_cast<size_t>(axis)] + digits[axis]);
    }
  }
  // Room for one value of each axis: blocks of one value of the held axis.
  const std::vector<int> order = SerpentineOrders(request, 4)[0];
  for (size_t i = 1; i < order.size(); ++i) {
    int changed = 0;
    for (size_t axis = 0; axis < 4; ++axis) {
      changed += request.cells[static_cast<size_t>(order[i])].values[axis] !=
                 request.cells[static_cast<size_t>(order[i - 1])].values[axis];
    }
    EXPECT_EQ(changed, 1) << i;
    EXPECT_EQ(order[i] / 24, static_cast<int>(i) / 24);
  }
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
