#include "footprint/memo/schedule/load_bound.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "footprint/base/testing/status_matchers.h"
#include "footprint/memo/schedule/belady_schedule.h"
#include "footprint/memo/schedule/schedule_planner.h"
#include "gtest/gtest.h"

namespace footprint::memo_internal {
namespace {

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

int Draw(std::mt19937* random, int low, int high) {
  return std::uniform_int_distribution<int>(low, high)(*random);
}

// Adds values of different sizes and costs; some may have no bytes.
void AddValues(std::mt19937* random, int count, ScheduleRequest* request) {
  const int largest = Draw(random, 1, 6);
  const int dearest = Draw(random, 1, 6);
  const int smallest = Draw(random, 0, 1);
  for (int i = 0; i < count; ++i) {
    request->values.push_back({"v", Draw(random, smallest, largest),
                               SizeSource::kDeclared,
                               Draw(random, 1, dearest)});
    if (Draw(random, 0, 5) == 0) {
      request->values.back().load_peak_bytes = Draw(random, 1, 10);
    }
  }
}

// Sets a budget at, or a little above, the smallest one that works.
void DrawBudget(std::mt19937* random, ScheduleRequest* request) {
  request->budget_bytes.reset();
  const absl::StatusOr<Schedule> schedule = PlanSchedule(*request);
  ASSERT_THAT(schedule, IsOk());
  request->budget_bytes = schedule->smallest_budget_bytes + Draw(random, 0, 6);
}

// The search is exact if it completes; its own test compares it with every
// possible schedule.
int64_t LowestCost(const ScheduleRequest& request) {
  const absl::StatusOr<Schedule> schedule = PlanSchedule(request);
  EXPECT_THAT(schedule, IsOk());
  if (!schedule.ok()) return 0;
  return schedule->load_cost;
}

// Returns cells that may share values across positions and may occur twice.
ScheduleRequest RandomCells(std::mt19937* random) {
  ScheduleRequest request;
  const int value_count = Draw(random, 2, 7);
  AddValues(random, value_count, &request);
  for (int cells = Draw(random, 1, 9); cells > 0; --cells) {
    std::vector<int> values(static_cast<size_t>(value_count));
    std::iota(values.begin(), values.end(), 0);
    std::shuffle(values.begin(), values.end(), *random);
    values.resize(
        static_cast<size_t>(Draw(random, 1, std::min(3, value_count))));
    request.cells.push_back({"cell", values});
  }
  DrawBudget(random, &request);
  return request;
}

// Returns some of the cells of a product, in any order.
ScheduleRequest RandomProduct(std::mt19937* random) {
  ScheduleRequest request =
      Draw(random, 0, 1) == 0
          ? Product({Draw(random, 2, 4), Draw(random, 2, 4)})
          : Product({2, Draw(random, 2, 3), Draw(random, 2, 3)});
  const int value_count = static_cast<int>(request.values.size());
  request.values.clear();
  AddValues(random, value_count, &request);
  std::shuffle(request.cells.begin(), request.cells.end(), *random);
  request.cells.resize(std::min<size_t>(
      request.cells.size(), static_cast<size_t>(Draw(random, 4, 10))));
  DrawBudget(random, &request);
  return request;
}

TEST(LoadBoundTest, CountsEveryUsedValueOnce) {
  ScheduleRequest request = Product({2, 3});
  request.values[0].load_cost = 5;
  request.values.push_back({"unused", 1});
  EXPECT_EQ(CompulsoryCost(request), 9);
}

TEST(LoadBoundTest, InTheGivenOrderIsNeverAboveTheLeast) {
  std::mt19937 random(31);
  int sharp = 0;
  for (int round = 0; round < 3000; ++round) {
    const ScheduleRequest request =
        round % 2 == 0 ? RandomCells(&random) : RandomProduct(&random);
    const int64_t bound = LeastCostInOrder(request, *request.budget_bytes);
    const int64_t lowest = LowestCost(request);
    ASSERT_LE(bound, lowest) << round;
    ASSERT_GE(bound, CompulsoryCost(request)) << round;
    sharp += bound == lowest && bound > CompulsoryCost(request) ? 1 : 0;
  }
  EXPECT_GT(sharp, 200);
}

TEST(LoadBoundTest, InAnyOrderIsNeverAboveTheLeast) {
  std::mt19937 random(32);
  int sharp = 0;
  for (int round = 0; round < 1000; ++round) {
    ScheduleRequest request =
        round % 2 == 0 ? RandomCells(&random) : RandomProduct(&random);
    request.may_reorder = true;
    const int64_t bound = LeastCostInAnyOrder(request, *request.budget_bytes);
    const int64_t lowest = LowestCost(request);
    ASSERT_LE(bound, lowest) << round;
    ASSERT_GE(bound, CompulsoryCost(request)) << round;
    sharp += bound == lowest && bound > CompulsoryCost(request) ? 1 : 0;
  }
  EXPECT_GE(sharp, 5);
}

// The bound stays the same if values have other numbers.
TEST(LoadBoundTest, TheNumbersOfValuesMakeNoDifference) {
  std::mt19937 random(34);
  for (int round = 0; round < 300; ++round) {
    ScheduleRequest request = Product({3 + round % 6, 4 + round % 5});
    const int value_count = static_cast<int>(request.values.size());
    request.values.clear();
    AddValues(&random, value_count, &request);
    const int64_t budget_bytes = Draw(&random, 12, 20);
    ScheduleRequest reversed = request;
    std::reverse(reversed.values.begin(), reversed.values.end());
    for (PlannedCell& cell : reversed.cells) {
      for (int& value : cell.values) value = value_count - 1 - value;
    }
    EXPECT_EQ(LeastCostInAnyOrder(reversed, budget_bytes),
              LeastCostInAnyOrder(request, budget_bytes))
        << round;
  }
}

// Large plans, which no search completes, are not below the bound either.
TEST(LoadBoundTest, LargePlansAreNeverBelow) {
  std::mt19937 random(33);
  for (int round = 0; round < 60; ++round) {
    ScheduleRequest request =
        round % 2 == 0 ? Product({Draw(&random, 5, 20), Draw(&random, 5, 20)})
                       : Product({Draw(&random, 3, 7), Draw(&random, 3, 7),
                                  Draw(&random, 3, 7)});
    const int value_count = static_cast<int>(request.values.size());
    request.values.clear();
    AddValues(&random, value_count, &request);
    DrawBudget(&random, &request);
    for (const bool may_reorder : {false, true}) {
      request.may_reorder = may_reorder;
      const absl::StatusOr<Schedule> schedule = PlanSchedule(request);
      ASSERT_THAT(schedule, IsOk());
      ASSERT_LE(schedule->least_load_cost, schedule->load_cost) << round;
      const int64_t bound =
          may_reorder ? LeastCostInAnyOrder(request, *request.budget_bytes)
                      : LeastCostInOrder(request, *request.budget_bytes);
      ASSERT_LE(bound, schedule->load_cost) << round;
    }
  }
}

TEST(LoadBoundTest, OfEqualSizesInTheGivenOrderIsBeladysCount) {
  for (const int room : {2, 3, 5, 8}) {
    const ScheduleRequest request = Product({8, 6});
    std::vector<int> order(48);
    std::iota(order.begin(), order.end(), 0);
    EXPECT_EQ(LeastCostInOrder(request, room),
              ScheduleByBelady(request, order, room).load_count);
  }
}

// A byte of one kind costs three times a byte of the other: two layers.
TEST(LoadBoundTest, LayersOfPricesAddUp) {
  ScheduleRequest request;
  request.values = {{"cheap", 2, SizeSource::kDeclared, 2},
                    {"dear", 2, SizeSource::kDeclared, 6},
                    {"other", 2, SizeSource::kDeclared, 2}};
  request.cells = {{"0", {0}}, {"1", {1}}, {"2", {2}},
                   {"3", {0}}, {"4", {1}}, {"5", {2}}};
  // There is room for one more value. At least 8 of all 12 bytes are loaded for
  // 1 each, and 2 bytes of the dear value for 2 more each. No schedule does
  // both.
  EXPECT_EQ(LeastCostInOrder(request, 4), 8 + 4);
  EXPECT_EQ(LowestCost([&] {
              ScheduleRequest budgeted = request;
              budgeted.budget_bytes = 4;
              return budgeted;
            }()),
            14);
}

// There are as many prices as layers, so no price is rounded: with room for one
// value, every use is a load.
TEST(LoadBoundTest, SixteenPricesAreSixteenLayers) {
  ScheduleRequest request;
  int64_t sum = 0;
  for (int i = 0; i < 16; ++i) {
    PlannedValue value;
    value.bytes = 1;
    value.load_cost = 1 + i * i;
    sum += value.load_cost;
    request.values.push_back(value);
  }
  for (int i = 0; i < 32; ++i) request.cells.push_back({"cell", {i % 16}});
  EXPECT_EQ(LeastCostInOrder(request, 1), 2 * sum);
}

// By hand: with room for 20, a load beside 9 and 10 values of the other axes
// makes at most 90 cells ready, and the first 29 loads make at most 9 x 10 x 10
// ready. So at least (8000 - 900) / 90 loads follow, rounded up.
TEST(LoadBoundTest, OfThreeAxesInAnyOrder) {
  EXPECT_EQ(LeastCostInAnyOrder(Product({20, 20, 20}), 20), 108);
  EXPECT_EQ(LeastCostInAnyOrder(Product({10, 10, 10}), 8), 91);
}

TEST(LoadBoundTest, ProductsThatShareNothingAddUp) {
  const ScheduleRequest one = Product({12, 12});
  ScheduleRequest both = one;
  both.values.insert(both.values.end(), one.values.begin(), one.values.end());
  // This cell separates the products into two groups.
  both.cells.push_back({"plain", {}});
  for (const PlannedCell& cell : one.cells) {
    both.cells.push_back({"cell", {cell.values[0] + 24, cell.values[1] + 24}});
  }
  const int64_t bound = LeastCostInAnyOrder(one, 5);
  EXPECT_GT(bound, CompulsoryCost(one));
  EXPECT_EQ(LeastCostInAnyOrder(both, 5), 2 * bound);
}

// The cells of a product twice cost no more than once, since each can run
// beside its twin.
TEST(LoadBoundTest, ProductsOfTheSameValuesDoNotAddUp) {
  ScheduleRequest once = Product({9, 9});
  const int between = static_cast<int>(once.values.size());
  once.values.push_back({"between", 1});
  const std::vector<PlannedCell> cells = once.cells;
  once.cells.push_back({"between", {between}});
  ScheduleRequest twice = once;
  twice.cells.insert(twice.cells.end(), cells.begin(), cells.end());
  EXPECT_GT(LeastCostInAnyOrder(once, 4), CompulsoryCost(once));
  EXPECT_EQ(LeastCostInAnyOrder(twice, 4), LeastCostInAnyOrder(once, 4));
}

// The same values are on both axes, so a loaded value serves twice.
TEST(LoadBoundTest, AValueOnTwoAxesTakesItsRoomOnce) {
  ScheduleRequest request;
  for (int i = 0; i < 4; ++i) request.values.push_back({"v", 1});
  for (int row = 0; row < 4; ++row) {
    for (int column = 0; column < 4; ++column) {
      if (row != column) request.cells.push_back({"cell", {row, column}});
    }
  }
  request.budget_bytes = 4;
  request.may_reorder = true;
  EXPECT_EQ(LeastCostInAnyOrder(request, 4), 4);
  EXPECT_EQ(LowestCost(request), 4);
}

// A comparison of two models on two data: the second axis of models is chosen
// no more than once for a room.
TEST(LoadBoundTest, AValueBesideTheChosenAxesTakesItsRoomOnce) {
  ScheduleRequest request;
  const int64_t bytes[] = {2, 3, 3, 3};
  const int64_t costs[] = {1, 3, 1, 1};
  for (int i = 0; i < 4; ++i) {
    request.values.push_back({"v", bytes[i], SizeSource::kDeclared, costs[i]});
  }
  for (const std::vector<int>& values :
       {std::vector<int>{0, 1, 2}, {0, 1, 3}, {1, 0, 2}, {1, 0, 3}}) {
    request.cells.push_back({"cell", values});
  }
  request.budget_bytes = 8;
  request.may_reorder = true;
  EXPECT_EQ(LowestCost(request), 6);
  EXPECT_LE(LeastCostInAnyOrder(request, 8), 6);
}

// Pairs of a list with itself, beside another axis, as comparisons are.
TEST(LoadBoundTest, PairwiseComparisonsAreNeverBelow) {
  std::mt19937 random(35);
  for (int round = 0; round < 60; ++round) {
    ScheduleRequest request;
    const int models = Draw(&random, 2, 3);
    const int data = Draw(&random, 2, 3);
    AddValues(&random, models + data, &request);
    for (int left = 0; left < models; ++left) {
      for (int right = 0; right < models; ++right) {
        for (int i = 0; i < data && left != right; ++i) {
          request.cells.push_back({"cell", {left, right, models + i}});
        }
      }
    }
    request.may_reorder = true;
    DrawBudget(&random, &request);
    EXPECT_LE(LeastCostInAnyOrder(request, *request.budget_bytes),
              LowestCost(request))
        << round;
  }
}

// Trying each count of two axes would take hours.
TEST(LoadBoundTest, FourAxesOfManyValuesTakeNoTime) {
  constexpr int kCount = 3000;
  ScheduleRequest request;
  for (int i = 0; i < 4 * kCount; ++i) {
    request.values.push_back({"v", 1 + i % 97});
  }
  for (int i = 0; i < kCount; ++i) {
    request.cells.push_back(
        {"cell", {i, kCount + i, 2 * kCount + i, 3 * kCount + i}});
  }
  request.may_reorder = true;
  EXPECT_GE(LeastCostInAnyOrder(request, 4 * kCount * 45),
            CompulsoryCost(request));
}

}  // namespace
}  // namespace footprint::memo_internal
