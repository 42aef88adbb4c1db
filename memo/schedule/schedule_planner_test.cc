#include "footprint/memo/schedule/schedule_planner.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

ScheduleRequest Grid(int rows, int columns, int64_t bytes = 1) {
  ScheduleRequest request;
  for (int i = 0; i < rows + columns; ++i) {
    request.values.push_back({absl::StrCat("value", i), bytes});
  }
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      request.cells.push_back(
          {absl::StrCat(row, "x", column), {row, rows + column}});
    }
  }
  return request;
}

// Runs the schedule step by step, without knowledge of planning.
void ExpectConsistent(const ScheduleRequest& request,
                      const Schedule& schedule) {
  std::set<int> live;
  std::set<int> ran;
  int64_t loads = 0;
  int64_t cost = 0;
  int64_t peak_bytes = 0;
  std::map<int, size_t> last_use;
  for (size_t i = 0; i < schedule.steps.size(); ++i) {
    const int cell = schedule.steps[i].cell;
    for (int value : request.cells[static_cast<size_t>(cell)].values) {
      last_use[value] = i;
    }
  }
  for (size_t i = 0; i < schedule.steps.size(); ++i) {
    const ScheduledStep& step = schedule.steps[i];
    EXPECT_TRUE(ran.insert(step.cell).second) << "twice: cell " << step.cell;
    int64_t bytes = 0;
    for (int v : live) bytes += request.values[static_cast<size_t>(v)].bytes;
    for (int value : step.loads) {
      EXPECT_TRUE(live.insert(value).second) << "loaded twice";
      ++loads;
      const PlannedValue& loaded = request.values[static_cast<size_t>(value)];
      cost += loaded.load_cost;
      peak_bytes = std::max(peak_bytes, bytes + loaded.load_peak_bytes);
      bytes += loaded.bytes;
    }
    peak_bytes = std::max(peak_bytes, bytes);
    const std::vector<int>& needs =
        request.cells[static_cast<size_t>(step.cell)].values;
    for (int value : needs) EXPECT_EQ(live.count(value), 1u);
    for (int value : step.evictions) {
      EXPECT_EQ(live.erase(value), 1u);
      // The value is not kept beyond its last use.
      EXPECT_EQ(std::count(needs.begin(), needs.end(), value) > 0, true);
    }
    for (int value : needs) {
      const bool is_used_later = last_use[value] > i;
      EXPECT_TRUE(is_used_later || live.count(value) == 0)
          << "kept beyond its last use: " << value;
    }
  }
  EXPECT_TRUE(live.empty());
  EXPECT_EQ(ran.size(), request.cells.size());
  EXPECT_EQ(loads, schedule.load_count);
  EXPECT_EQ(cost, schedule.load_cost);
  EXPECT_EQ(peak_bytes, schedule.peak_bytes);
  if (request.budget_bytes.has_value()) {
    EXPECT_LE(peak_bytes, *request.budget_bytes);
  }
}

Schedule Plan(const ScheduleRequest& request) {
  absl::StatusOr<Schedule> schedule = PlanSchedule(request);
  EXPECT_THAT(schedule, IsOk());
  if (!schedule.ok()) return Schedule();
  ExpectConsistent(request, *schedule);
  return *schedule;
}

// Returns the peak of `loads` in the best order.
int64_t NeedOfLoads(const ScheduleRequest& request, std::vector<int> loads) {
  std::sort(loads.begin(), loads.end());
  int64_t least = INT64_MAX;
  do {
    int64_t live = 0;
    int64_t most = 0;
    for (int index : loads) {
      const PlannedValue& value = request.values[static_cast<size_t>(index)];
      most = std::max(most, live + value.load_peak_bytes);
      live += value.bytes;
      most = std::max(most, live);
    }
    least = std::min(least, most);
  } while (std::next_permutation(loads.begin(), loads.end()));
  return least;
}

// Computes the lowest load cost by trying all cells, single loads and
// evictions. A state is the set of cells that have run and the set of values
// that are alive.
class Oracle {
 public:
  explicit Oracle(const ScheduleRequest& request) : request_(request) {}

  int64_t Lowest() {
    Reach({0, 0}, 0);
    while (!open_.empty()) {
      const auto [cost, state] = *open_.begin();
      open_.erase(open_.begin());
      if (lowest_[state] < cost) continue;
      if (state.first + 1 == 1u << request_.cells.size()) return cost;
      RunCells(state, cost);
      ChangeValues(state, cost);
    }
    return INT64_MAX;
  }

 private:
  using State = std::pair<unsigned, unsigned>;

  void Reach(State state, int64_t cost) {
    const auto [known, is_new] = lowest_.try_emplace(state, cost);
    if (!is_new && known->second <= cost) return;
    known->second = cost;
    open_.insert({cost, state});
  }
  void RunCells(State state, int64_t cost) {
    for (size_t cell = 0; cell < request_.cells.size(); ++cell) {
      if ((state.first >> cell & 1) != 0) continue;
      unsigned need = 0;
      for (int value : request_.cells[cell].values) need |= 1u << value;
      if ((state.second & need) == need) {
        Reach({state.first | 1u << cell, state.second}, cost);
      }
      if (!request_.may_reorder) break;
    }
  }
  void ChangeValues(State state, int64_t cost) {
    int64_t live_bytes = 0;
    for (size_t i = 0; i < request_.values.size(); ++i) {
      if ((state.second >> i & 1) != 0) live_bytes += request_.values[i].bytes;
    }
    for (size_t i = 0; i < request_.values.size(); ++i) {
      const PlannedValue& value = request_.values[i];
      const State other = {state.first, state.second ^ 1u << i};
      if ((state.second >> i & 1) != 0) {
        Reach(other, cost);
      } else if (live_bytes + value.bytes + value.passing_bytes() <=
                 *request_.budget_bytes) {
        Reach(other, cost + value.load_cost);
      }
    }
  }

  const ScheduleRequest& request_;
  std::map<State, int64_t> lowest_;
  std::set<std::pair<int64_t, State>> open_;
};

ScheduleRequest RandomRequest(std::mt19937* random, int most_cells,
                              int most_values) {
  const auto draw = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(*random);
  };
  ScheduleRequest request;
  const int value_count = draw(1, most_values);
  const int largest = draw(0, 1) == 0 ? 1 : draw(2, 9);
  const int dearest = draw(0, 2) == 0 ? draw(2, 5) : 1;
  for (int i = 0; i < value_count; ++i) {
    request.values.push_back({absl::StrCat("v", i), draw(1, largest),
                              SizeSource::kDeclared, draw(1, dearest)});
    if (draw(0, 3) == 0) {
      request.values.back().load_peak_bytes = draw(1, 3 * largest);
    }
  }
  int64_t smallest = 0;
  const int cell_count = draw(1, most_cells);
  for (int i = 0; i < cell_count; ++i) {
    std::vector<int> values(static_cast<size_t>(value_count));
    std::iota(values.begin(), values.end(), 0);
    std::shuffle(values.begin(), values.end(), *random);
    values.resize(static_cast<size_t>(draw(1, std::min(3, value_count))));
    smallest = std::max(smallest, NeedOfLoads(request, values));
    request.cells.push_back({absl::StrCat("c", i), values});
  }
  request.budget_bytes = smallest + draw(0, 2 * largest);
  return request;
}

TEST(SchedulePlannerTest, NothingToRunNeedsNothing) {
  const Schedule schedule = Plan(ScheduleRequest());
  EXPECT_TRUE(schedule.steps.empty());
  EXPECT_EQ(schedule.peak_bytes, 0);
}

TEST(SchedulePlannerTest, ACellMayNeedNothing) {
  ScheduleRequest request = Grid(2, 2);
  request.cells.insert(request.cells.begin() + 2, {"plain", {}});
  EXPECT_EQ(Plan(request).load_count, 4);
  request.budget_bytes = 2;
  request.may_reorder = true;
  EXPECT_EQ(Plan(request).load_count, 5);
}

TEST(SchedulePlannerTest, GuideScenarioHoldsOneModelAtATime) {
  ScheduleRequest request;
  request.values = {{"a", 400}, {"b", 400}, {"c", 400}};
  request.cells = {{"a1", {0}}, {"a2", {0}}, {"b1", {1}}, {"c1", {2}}};
  const Schedule schedule = Plan(request);
  EXPECT_EQ(schedule.load_count, 3);
  EXPECT_EQ(schedule.peak_bytes, 400);
  EXPECT_EQ(schedule.method, ScheduleMethod::kKeepToLastUse);
  EXPECT_TRUE(schedule.is_optimal);
  EXPECT_EQ(schedule.steps[0].evictions, std::vector<int>());
  EXPECT_EQ(schedule.steps[1].evictions, std::vector<int>({0}));
}

TEST(SchedulePlannerTest, ProductOfThreeModelsAndTwoDataSets) {
  ScheduleRequest request = Grid(3, 2, 400);
  request.values[3].bytes = request.values[4].bytes = 200;
  const Schedule schedule = Plan(request);
  EXPECT_EQ(schedule.load_count, 5);
  EXPECT_EQ(schedule.peak_bytes, 800);
  EXPECT_EQ(schedule.smallest_budget_bytes, 600);
  EXPECT_FALSE(schedule.is_reordered);
}

// A load of a model of 100 takes 300; afterwards a data set of 50 fits beside
// it.
TEST(SchedulePlannerTest, TheNeedOfALoadIsPlannedFor) {
  ScheduleRequest request = Grid(1, 2, 50);
  request.values[0].bytes = 100;
  request.values[0].load_peak_bytes = 300;
  request.budget_bytes = 300;
  const Schedule schedule = Plan(request);
  EXPECT_EQ(schedule.load_count, 3);
  EXPECT_EQ(schedule.peak_bytes, 300);
  EXPECT_EQ(schedule.smallest_budget_bytes, 300);
  EXPECT_EQ(schedule.steps[0].loads, std::vector<int>({0, 1}));
  request.budget_bytes = 299;
  EXPECT_THAT(PlanSchedule(request),
              StatusIs(absl::StatusCode::kResourceExhausted));
}

// The data set is loaded when the second model needs all of the budget, so it
// is evicted and loaded again after it.
TEST(SchedulePlannerTest, WhatTheCellHasGivesWayToItsOtherLoads) {
  ScheduleRequest request = Grid(2, 1, 50);
  request.values[1].load_peak_bytes = 100;
  request.budget_bytes = 100;
  const Schedule schedule = Plan(request);
  EXPECT_EQ(schedule.load_count, 4);
  EXPECT_EQ(schedule.peak_bytes, 100);
}

// Two products have the same models: in the order of their names all models are
// alive, in another order only one model at a time.
TEST(SchedulePlannerTest, AnotherOrderBringsProductsOfTheSameValuesTogether) {
  for (const int models : {3, 40}) {
    ScheduleRequest request = Grid(models, 2, 100);
    request.values[static_cast<size_t>(models)].bytes = 50;
    request.values[static_cast<size_t>(models) + 1].bytes = 50;
    std::vector<PlannedCell> alone;
    for (int i = 0; i < models; ++i) alone.push_back({"alone", {i}});
    request.cells.insert(request.cells.begin(), alone.begin(), alone.end());
    EXPECT_EQ(Plan(request).peak_bytes, models * 100 + 100);
    request.may_reorder = true;
    const Schedule schedule = Plan(request);
    EXPECT_EQ(schedule.peak_bytes, 200);
    EXPECT_EQ(schedule.load_count, models + 2);
  }
}

TEST(SchedulePlannerTest, FilteredProductHasItsOwnOptimum) {
  ScheduleRequest request = Grid(3, 2, 400);
  request.values[3].bytes = request.values[4].bytes = 200;
  request.cells = {request.cells[1], request.cells[3], request.cells[5]};
  const Schedule schedule = Plan(request);
  EXPECT_EQ(schedule.load_count, 4);
  EXPECT_EQ(schedule.peak_bytes, 600);
}

// The figures are from an exact simulation that is not in this tree.
TEST(SchedulePlannerTest, GridsInTheGivenOrder) {
  const std::vector<std::vector<int64_t>> table = {
      {3, 2, 2, 9},     {3, 2, 3, 5},     {3, 3, 2, 12},   {3, 3, 3, 9},
      {3, 3, 4, 6},     {8, 6, 3, 47},    {8, 6, 4, 38},   {8, 6, 7, 14},
      {20, 10, 4, 177}, {20, 10, 6, 135}, {20, 10, 11, 30}};
  for (const std::vector<int64_t>& row : table) {
    ScheduleRequest request =
        Grid(static_cast<int>(row[0]), static_cast<int>(row[1]));
    request.budget_bytes = row[2];
    const Schedule schedule = Plan(request);
    EXPECT_EQ(schedule.load_count, row[3]) << row[0] << "x" << row[1];
    EXPECT_TRUE(schedule.is_optimal);
  }
}

TEST(SchedulePlannerTest, GridsInAnyOrder) {
  // Each row has rows, columns, room, loads, and a bound for the loads of any
  // order.
  const std::vector<std::vector<int64_t>> table = {
      {3, 2, 2, 7, 7},     {3, 2, 3, 5, 5},     {3, 3, 2, 10, 10},
      {3, 3, 3, 8, 8},     {3, 3, 4, 6, 6},     {8, 6, 3, 28, 26},
      {8, 6, 4, 21, 19},   {8, 6, 7, 14, 14},   {20, 10, 4, 84, 70},
      {20, 10, 6, 49, 45}, {20, 10, 11, 30, 30}};
  for (const std::vector<int64_t>& row : table) {
    ScheduleRequest request =
        Grid(static_cast<int>(row[0]), static_cast<int>(row[1]));
    request.budget_bytes = row[2];
    request.may_reorder = true;
    const Schedule schedule = Plan(request);
    EXPECT_EQ(schedule.load_count, row[3])
        << row[0] << "x" << row[1] << " with room for " << row[2];
    EXPECT_EQ(schedule.least_load_cost, row[4])
        << row[0] << "x" << row[1] << " with room for " << row[2];
  }
}

TEST(SchedulePlannerTest, ReorderingLowersThePeakWithoutABudget) {
  for (const auto& [rows, columns] :
       std::vector<std::pair<int, int>>{{3, 2}, {2, 3}, {8, 6}, {6, 8}}) {
    ScheduleRequest request = Grid(rows, columns);
    request.may_reorder = true;
    const Schedule schedule = Plan(request);
    EXPECT_EQ(schedule.load_count, rows + columns);
    EXPECT_EQ(schedule.peak_bytes, std::min(rows, columns) + 1);
  }
}

TEST(SchedulePlannerTest, KeepsTheGivenOrderWhereNoneIsBetter) {
  ScheduleRequest request = Grid(4, 1);
  request.may_reorder = true;
  EXPECT_FALSE(Plan(request).is_reordered);
}

ScheduleRequest Cube(int side, int64_t room) {
  ScheduleRequest request;
  for (int i = 0; i < 3 * side; ++i) request.values.push_back({"v", 1});
  for (int i = 0; i < side * side * side; ++i) {
    request.cells.push_back(
        {"c",
         {i / (side * side), side + i / side % side, 2 * side + i % side}});
  }
  request.budget_bytes = room;
  return request;
}

TEST(SchedulePlannerTest, ThreeAxesGoBackAndForth) {
  ScheduleRequest request = Cube(5, 4);
  const int64_t in_order = Plan(request).load_count;
  request.may_reorder = true;
  const Schedule schedule = Plan(request);
  EXPECT_EQ(in_order, 125);
  EXPECT_LE(schedule.load_count, 75);
  EXPECT_EQ(schedule.least_load_cost, 66);
  EXPECT_EQ(schedule.method, ScheduleMethod::kBeladyByBytes);
  EXPECT_FALSE(schedule.is_optimal);
}

// Blocks of one axis alone would take 516 and 192 loads.
TEST(SchedulePlannerTest, ThreeAxesAreTiled) {
  ScheduleRequest large = Cube(20, 20);
  EXPECT_EQ(Plan(large).load_count, 1280);
  large.may_reorder = true;
  const Schedule schedule = Plan(large);
  EXPECT_LE(schedule.load_count, 158);
  EXPECT_EQ(schedule.least_load_cost, 108);
  ScheduleRequest small = Cube(10, 8);
  EXPECT_EQ(Plan(small).load_count, 560);
  small.may_reorder = true;
  EXPECT_LE(Plan(small).load_count, 119);
  EXPECT_EQ(Plan(small).least_load_cost, 91);
}

// Every fifth value is large and every seventh dear: tiles with equal numbers
// of values would leave room unused.
TEST(SchedulePlannerTest, AxesOfUnequalValuesAreTiled) {
  ScheduleRequest request = Cube(20, 60);
  for (size_t i = 0; i < request.values.size(); ++i) {
    if (i % 5 == 0) request.values[i].bytes = 7;
    if (i % 7 == 0) request.values[i].load_cost = 9;
  }
  const int64_t in_order = Plan(request).load_cost;
  request.may_reorder = true;
  const Schedule schedule = Plan(request);
  EXPECT_EQ(in_order, 538);
  EXPECT_LE(schedule.load_cost, 182);
}

// The cells go forth and back through 50,000 values, with room for some: the
// values used last are kept.
TEST(SchedulePlannerTest, ManyLiveValues) {
  ScheduleRequest request;
  request.values.resize(50'000, {"v", 1});
  for (int i = 0; i < 100'000; ++i) {
    request.cells.push_back({"c", {i < 50'000 ? i : 99'999 - i}});
  }
  request.budget_bytes = 20'000;
  const absl::StatusOr<Schedule> schedule = PlanSchedule(request);
  ASSERT_THAT(schedule, IsOk());
  EXPECT_EQ(schedule->load_count, 80'000);
  EXPECT_TRUE(schedule->is_optimal);
}

// Each large value needs room, but many small ones need not go.
TEST(SchedulePlannerTest, ManyNeedlessVictims) {
  ScheduleRequest request;
  for (int i = 0; i < 1000; ++i) request.values.push_back({"small", 1});
  for (int i = 0; i < 3; ++i) request.values.push_back({"large", 2000});
  for (int i = 0; i < 1000; ++i) request.cells.push_back({"c", {i}});
  for (int i = 0; i < 300; ++i) {
    request.cells.push_back({"c", {1000 + i % 3}});
  }
  for (int i = 0; i < 1000; ++i) request.cells.push_back({"c", {i}});
  request.budget_bytes = 5000;
  Plan(request);
}

TEST(SchedulePlannerTest, TheBoundOfAnOptimalPlanIsItsCost) {
  ScheduleRequest request = Grid(8, 6);
  for (const absl::optional<int64_t> budget_bytes :
       {absl::optional<int64_t>(), absl::optional<int64_t>(3)}) {
    request.budget_bytes = budget_bytes;
    const Schedule schedule = Plan(request);
    EXPECT_TRUE(schedule.is_optimal);
    EXPECT_EQ(schedule.least_load_cost, schedule.load_cost);
  }
}

// With room for one value of each axis, the reflected order is the best.
TEST(SchedulePlannerTest, ABoundThatIsReachedProvesThePlan) {
  ScheduleRequest request = Cube(20, 3);
  request.may_reorder = true;
  const Schedule schedule = Plan(request);
  EXPECT_EQ(schedule.load_count, 8002);
  EXPECT_EQ(schedule.method, ScheduleMethod::kBeladyByBytes);
  EXPECT_TRUE(schedule.is_optimal);
}

bool HasPassingBytes(const ScheduleRequest& request) {
  return std::any_of(
      request.values.begin(), request.values.end(),
      [](const PlannedValue& value) { return value.passing_bytes() > 0; });
}

// Expects that the plan's claim is true, and that the plan is the best if loads
// need no more than their values. Returns whether it is the best in any case.
bool IsAsGoodAsItClaims(const ScheduleRequest& request) {
  const Schedule schedule = Plan(request);
  const int64_t lowest = Oracle(request).Lowest();
  EXPECT_GE(schedule.load_cost, lowest);
  EXPECT_LE(schedule.least_load_cost, lowest);
  if (schedule.is_optimal) {
    EXPECT_EQ(schedule.load_cost, lowest);
  }
  if (!HasPassingBytes(request)) {
    EXPECT_TRUE(schedule.is_optimal);
  }
  return schedule.load_cost == lowest;
}

TEST(SchedulePlannerTest, EqualsTheOracleInTheGivenOrder) {
  std::mt19937 random(20240);
  int best_count = 0;
  for (int round = 0; round < 3000; ++round) {
    best_count += IsAsGoodAsItClaims(RandomRequest(&random, 9, 7)) ? 1 : 0;
    ASSERT_FALSE(HasFailure()) << round;
  }
  EXPECT_GE(best_count, 2975);
}

TEST(SchedulePlannerTest, EqualsTheOracleInAnyOrder) {
  std::mt19937 random(777);
  int best_count = 0;
  for (int round = 0; round < 400; ++round) {
    ScheduleRequest request = RandomRequest(&random, 9, 5);
    request.may_reorder = true;
    best_count += IsAsGoodAsItClaims(request) ? 1 : 0;
    ASSERT_FALSE(HasFailure()) << round;
  }
  EXPECT_EQ(best_count, 400);
}

TEST(SchedulePlannerTest, LargeRandomPlansAreConsistent) {
  std::mt19937 random(5);
  for (int round = 0; round < 60; ++round) {
    ScheduleRequest request = RandomRequest(&random, 200, 40);
    request.may_reorder = round % 2 == 1;
    const Schedule schedule = Plan(request);
    EXPECT_LE(schedule.least_load_cost, schedule.load_cost);
    EXPECT_EQ(schedule.is_optimal,
              schedule.least_load_cost == schedule.load_cost);
  }
}

TEST(SchedulePlannerTest, ADearValueIsKept) {
  ScheduleRequest request;
  request.values = {
      {"dear", 1, SizeSource::kDeclared, 10}, {"cheap", 1}, {"between", 1}};
  request.cells = {{"1", {0}}, {"2", {1}}, {"3", {2}}, {"4", {1}}, {"5", {0}}};
  request.budget_bytes = 2;
  const Schedule schedule = Plan(request);
  EXPECT_EQ(schedule.load_cost, 13);
  EXPECT_EQ(schedule.method, ScheduleMethod::kExactSearch);
}

// This is too long for the search: the small value is the first victim, which
// the large victim then makes unnecessary.
TEST(SchedulePlannerTest, BeladyByBytesKeepsWhatStillFits) {
  ScheduleRequest request;
  request.values = {{"small", 1}, {"large", 10}, {"other", 10}};
  request.cells = {{"0", {0}}, {"1", {1}}, {"2", {2}}, {"3", {1}}};
  for (int i = 0; i < 70; ++i) request.cells.push_back({"other", {2}});
  request.cells.push_back({"last", {0}});
  request.budget_bytes = 19;
  const Schedule schedule = Plan(request);
  EXPECT_EQ(schedule.method, ScheduleMethod::kBeladyByBytes);
  EXPECT_EQ(schedule.load_count, 5);
}

TEST(SchedulePlannerTest, AValueTwiceInACellIsLoadedOnce) {
  ScheduleRequest request;
  request.values = {{"a", 5}};
  request.cells = {{"both", {0, 0}}};
  request.budget_bytes = 5;
  absl::StatusOr<Schedule> schedule = PlanSchedule(request);
  ASSERT_THAT(schedule, IsOk());
  EXPECT_EQ(schedule->load_count, 1);
  EXPECT_EQ(schedule->peak_bytes, 5);
}

TEST(SchedulePlannerTest, RefusesABudgetBelowACell) {
  ScheduleRequest request = Grid(2, 2, 100);
  request.budget_bytes = 199;
  const absl::Status status = PlanSchedule(request).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_NE(status.message().find("\"0x0\""), absl::string_view::npos);
  EXPECT_NE(status.message().find("smallest budget that can is 200"),
            absl::string_view::npos);
  request.budget_bytes = 200;
  EXPECT_THAT(PlanSchedule(request), IsOk());
}

TEST(SchedulePlannerTest, RefusesUnknownSizesUnderABudgetOnly) {
  ScheduleRequest request = Grid(2, 1);
  request.values[1].bytes = 0;
  request.values[1].source = SizeSource::kUnknown;
  EXPECT_EQ(Plan(request).unknown_size_count, 1);
  request.budget_bytes = 1000;
  const absl::Status status = PlanSchedule(request).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_NE(status.message().find("value1"), absl::string_view::npos);
}

TEST(SchedulePlannerTest, RefusesWhatMakesNoSense) {
  const auto code_of = [](const ScheduleRequest& request) {
    return PlanSchedule(request).status().code();
  };
  ScheduleRequest negative = Grid(1, 1, -1);
  EXPECT_EQ(code_of(negative), absl::StatusCode::kInvalidArgument);
  ScheduleRequest free_load = Grid(1, 1);
  free_load.values[0].load_cost = 0;
  EXPECT_EQ(code_of(free_load), absl::StatusCode::kInvalidArgument);
  ScheduleRequest foreign = Grid(1, 1);
  foreign.cells[0].values = {2};
  EXPECT_EQ(code_of(foreign), absl::StatusCode::kInvalidArgument);
  foreign.cells[0].values = {-1};
  EXPECT_EQ(code_of(foreign), absl::StatusCode::kInvalidArgument);
  ScheduleRequest huge = Grid(1, 1, INT64_MAX);
  EXPECT_EQ(code_of(huge), absl::StatusCode::kInvalidArgument);
  ScheduleRequest dear = Grid(1, 1);
  dear.values[0].load_cost = dear.values[1].load_cost = INT64_MAX;
  EXPECT_EQ(code_of(dear), absl::StatusCode::kInvalidArgument);
  ScheduleRequest debt = Grid(1, 1);
  debt.budget_bytes = -1;
  EXPECT_EQ(code_of(debt), absl::StatusCode::kInvalidArgument);
}

TEST(SchedulePlannerTest, EveryMethodHasAName) {
  EXPECT_STREQ(ScheduleMethodName(ScheduleMethod::kKeepToLastUse),
               "keep to last use");
  EXPECT_STREQ(ScheduleMethodName(ScheduleMethod::kBeladyOfEqualSizes),
               "Belady of equal sizes");
  EXPECT_STREQ(ScheduleMethodName(ScheduleMethod::kExactSearch),
               "exact search");
  EXPECT_STREQ(ScheduleMethodName(ScheduleMethod::kBeladyByBytes),
               "Belady by bytes");
}

}  // namespace
}  // namespace footprint
