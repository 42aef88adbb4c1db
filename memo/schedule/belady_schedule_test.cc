#include "footprint/memo/schedule/belady_schedule.h"

#include <numeric>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint::memo_internal {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// Three models by two data sets; the data change fastest. Models are 0 to 2.
ScheduleRequest ThreeByTwo() {
  ScheduleRequest request;
  request.values = {{"m0", 2}, {"m1", 2}, {"m2", 2}, {"d0", 1}, {"d1", 1}};
  for (int model = 0; model < 3; ++model) {
    for (int data = 3; data < 5; ++data) {
      request.cells.push_back({"cell", {model, data}});
    }
  }
  return request;
}

std::vector<int> GivenOrder(const ScheduleRequest& request) {
  std::vector<int> order(request.cells.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

TEST(BeladyScheduleTest, WithoutABudgetLoadsOnceAndEvictsAtTheLastUse) {
  const ScheduleRequest request = ThreeByTwo();
  const Schedule schedule =
      ScheduleByBelady(request, GivenOrder(request), kNoBudget);
  EXPECT_EQ(schedule.load_count, 5);
  EXPECT_EQ(schedule.load_cost, 5);
  EXPECT_EQ(schedule.peak_bytes, 4);
  ASSERT_EQ(schedule.steps.size(), 6u);
  EXPECT_THAT(schedule.steps[0].loads, ElementsAre(0, 3));
  EXPECT_THAT(schedule.steps[1].loads, ElementsAre(4));
  EXPECT_THAT(schedule.steps[1].evictions, ElementsAre(0));
  EXPECT_THAT(schedule.steps[3].loads, IsEmpty());
  EXPECT_THAT(schedule.steps[4].evictions, ElementsAre(3));
  EXPECT_THAT(schedule.steps[5].evictions, UnorderedElementsAre(2, 4));
}

TEST(BeladyScheduleTest, FollowsTheOrderItIsGiven) {
  const ScheduleRequest request = ThreeByTwo();
  const Schedule schedule =
      ScheduleByBelady(request, {0, 2, 4, 5, 3, 1}, kNoBudget);
  std::vector<int> cells;
  for (const ScheduledStep& step : schedule.steps) cells.push_back(step.cell);
  EXPECT_THAT(cells, ElementsAre(0, 2, 4, 5, 3, 1));
  // Each data set is used in one stretch; all three models are alive together.
  EXPECT_EQ(schedule.peak_bytes, 7);
}

TEST(BeladyScheduleTest, UnderABudgetLoadsAgainAndEvictsRightAfterTheUse) {
  const ScheduleRequest request = ThreeByTwo();
  const Schedule schedule = ScheduleByBelady(request, GivenOrder(request), 3);
  EXPECT_EQ(schedule.peak_bytes, 3);
  // Each cell loads its data set, and each model is loaded once.
  EXPECT_EQ(schedule.load_count, 9);
  EXPECT_THAT(schedule.steps[0].evictions, ElementsAre(3));
}

// A value that is evicted to make room is gone right after its last use.
TEST(BeladyScheduleTest, ThePeakIsThatOfTheSteps) {
  ScheduleRequest request;
  request.values = {{"a", 2}, {"b", 1}, {"c", 3}};
  request.cells = {{"1", {0}}, {"2", {1}}, {"3", {2}}, {"4", {0}}};
  // "a" and "b" would fit together, but "a" is evicted after its first use.
  const Schedule schedule = ScheduleByBelady(request, GivenOrder(request), 3);
  EXPECT_THAT(schedule.steps[0].evictions, ElementsAre(0));
  EXPECT_EQ(schedule.peak_bytes, 3);
  request.values[2].bytes = 2;
  request.values[1].bytes = 1;
  EXPECT_EQ(ScheduleByBelady(request, GivenOrder(request), 3).peak_bytes, 2);
}

TEST(BeladyScheduleTest, ACostCounts) {
  ScheduleRequest request = ThreeByTwo();
  request.values[3].load_cost = 7;
  EXPECT_EQ(ScheduleByBelady(request, GivenOrder(request), kNoBudget).load_cost,
            11);
}

}  // namespace
}  // namespace footprint::memo_internal
