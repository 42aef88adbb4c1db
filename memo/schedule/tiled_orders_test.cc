#include "footprint/memo/schedule/tiled_orders.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include "footprint/memo/schedule/belady_schedule.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint::memo_internal {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

// Returns a product of axes with so many values of one byte; the last axis
// changes fastest.
ScheduleRequest Product(const std::vector<int>& counts) {
  ScheduleRequest request;
  int cell_count = 1;
  for (int count : counts) {
    cell_count *= count;
    for (int i = 0; i < count; ++i) request.values.push_back({"v", 1});
  }
  for (int cell = 0; cell < cell_count; ++cell) {
    PlannedCell& added = request.cells.emplace_back();
    int rest = cell;
    int first = static_cast<int>(request.values.size());
    for (size_t axis = counts.size(); axis-- > 0;) {
      first -= counts[axis];
      added.values.insert(added.values.begin(), first + rest % counts[axis]);
      rest /= counts[axis];
    }
  }
  return request;
}

std::vector<std::vector<int>> Orders(const ScheduleRequest& request,
                                     int64_t budget_bytes,
                                     size_t most_orders = 1000) {
  std::vector<int> cells(request.cells.size());
  std::iota(cells.begin(), cells.end(), 0);
  std::vector<std::vector<int>> orders;
  ForEachTiledOrder(
      request, cells, budget_bytes, most_orders,
      [&](const std::vector<int>& order) { orders.push_back(order); });
  return orders;
}

int64_t CountLoads(const ScheduleRequest& request,
                   const std::vector<int>& order, int64_t budget_bytes) {
  return ScheduleByBelady(request, order, budget_bytes).load_count;
}

TEST(TiledOrdersTest, HoldsOneAxisAndGoesBackAndForthPastTheOther) {
  // Cells 0 to 5 are rows 0, 1, 2 with columns 3, 4. With room for two values a
  // column is kept while the rows go forth, then the next while they go back.
  const std::vector<std::vector<int>> orders = Orders(Product({3, 2}), 2);
  EXPECT_THAT(orders, Contains(ElementsAre(0, 1, 3, 2, 4, 5)));
  EXPECT_THAT(orders, Contains(ElementsAre(0, 2, 4, 5, 3, 1)));
}

TEST(TiledOrdersTest, HoldsAsMuchOfAnAxisAsFits) {
  // There is room for three values: two rows are kept while the columns pass.
  EXPECT_THAT(Orders(Product({4, 2}), 3),
              Contains(ElementsAre(0, 2, 1, 3, 5, 7, 4, 6)));
}

TEST(TiledOrdersTest, TheFirstOrderCutsEveryAxis) {
  // Keeping blocks of one axis alone takes 516 and 192 loads.
  const ScheduleRequest large = Product({20, 20, 20});
  EXPECT_LE(CountLoads(large, Orders(large, 20, 1)[0], 20), 160);
  const ScheduleRequest small = Product({10, 10, 10});
  EXPECT_LE(CountLoads(small, Orders(small, 8, 1)[0], 8), 121);
}

TEST(TiledOrdersTest, GivesNoMoreOrdersThanAsked) {
  EXPECT_EQ(Orders(Product({4, 4, 4}), 5, 3).size(), 3u);
}

// 40 axes of three values have more combinations than 64 bits can number.
TEST(TiledOrdersTest, ManyAxesAreOrderedToo) {
  ScheduleRequest request;
  for (int i = 0; i < 120; ++i) request.values.push_back({"v", 1});
  for (int cell = 0; cell < 9; ++cell) {
    PlannedCell& added = request.cells.emplace_back();
    for (int axis = 0; axis < 40; ++axis) {
      int rank = cell % 3;  // the last axis is the fastest
      if (axis == 38) rank = cell / 3;
      if (axis < 38) rank = 0;
      added.values.push_back(3 * axis + rank);
    }
  }
  // One value of each of the first axes stays; the last two go forth and back.
  EXPECT_THAT(Orders(request, 40),
              Contains(ElementsAre(0, 1, 2, 5, 4, 3, 6, 7, 8)));
}

// With room for one value of each axis, neighbours differ in one value.
TEST(TiledOrdersTest, IsAReflectedOrder) {
  const ScheduleRequest request = Product({2, 3, 2, 4});
  const std::vector<std::vector<int>> orders = Orders(request, 4);
  EXPECT_EQ(orders.size(), 24u);  // one for each nesting
  for (const std::vector<int>& order : orders) {
    for (size_t i = 1; i < order.size(); ++i) {
      int changed = 0;
      for (size_t axis = 0; axis < 4; ++axis) {
        changed +=
            request.cells[static_cast<size_t>(order[i])].values[axis] !=
            request.cells[static_cast<size_t>(order[i - 1])].values[axis];
      }
      ASSERT_EQ(changed, 1) << i;
    }
  }
}

// Two values of an axis cost ten times the others: sorted by cost per byte,
// they are in one block.
TEST(TiledOrdersTest, BringsDearValuesTogether) {
  ScheduleRequest request = Product({6, 12});
  request.values[0].load_cost = request.values[5].load_cost = 10;
  const std::vector<std::vector<int>> orders = Orders(request, 3);
  const bool has_dear_block = std::any_of(
      orders.begin(), orders.end(), [&](const std::vector<int>& order) {
        std::set<int> first_rows;
        for (size_t i = 0; i < 24; ++i) first_rows.insert(order[i] / 12);
        return first_rows == std::set<int>({0, 5});
      });
  EXPECT_TRUE(has_dear_block);
}

TEST(TiledOrdersTest, LeavesRoomForWhatPasses) {
  ScheduleRequest request = Product({8, 8});
  for (PlannedValue& value : request.values) value.load_peak_bytes = 4;
  // A tile has 6 of 9 bytes, since 3 bytes pass while a value loads.
  const std::vector<int> order = Orders(request, 9, 1)[0];
  EXPECT_EQ(CountLoads(request, order, 9),
            CountLoads(Product({8, 8}), order, 6));
}

TEST(TiledOrdersTest, NothingHasNoOrders) {
  EXPECT_THAT(Orders(ScheduleRequest(), 1), IsEmpty());
}

TEST(TiledOrdersTest, CellsThatNeedNothingStayAsTheyAre) {
  ScheduleRequest request;
  request.cells = {{"a", {}}, {"b", {}}};
  EXPECT_THAT(Orders(request, 1), ElementsAre(ElementsAre(0, 1)));
}

TEST(TiledOrdersTest, EachOrderNamesEachCellOnce) {
  std::mt19937 random(11);
  const auto draw = [&random](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  for (int round = 0; round < 200; ++round) {
    ScheduleRequest request;
    const int value_count = draw(1, 12);
    for (int i = 0; i < value_count; ++i) {
      request.values.push_back(
          {"v", draw(0, 5), SizeSource::kDeclared, draw(1, 3)});
    }
    const int arity = draw(0, 5);
    for (int cells = draw(0, 40); cells > 0; --cells) {
      PlannedCell& cell = request.cells.emplace_back();
      for (int axis = 0; axis < arity; ++axis) {
        cell.values.push_back(draw(0, value_count - 1));
      }
    }
    std::vector<int> all(request.cells.size());
    std::iota(all.begin(), all.end(), 0);
    for (std::vector<int> order : Orders(request, draw(0, 30), 20)) {
      std::sort(order.begin(), order.end());
      ASSERT_EQ(order, all) << round;
    }
  }
}

}  // namespace
}  // namespace footprint::memo_internal
