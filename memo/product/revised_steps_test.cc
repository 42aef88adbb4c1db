#include "footprint/memo/product/revised_steps.h"

#include <set>
#include <string>
#include <vector>

#include "footprint/base/testing/status_matchers.h"
#include "footprint/memo/schedule/schedule.h"
#include "footprint/memo/schedule/schedule_planner.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint::memo_internal {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

ScheduleRequest Request(int64_t bytes, int64_t budget_bytes) {
  ScheduleRequest request;
  for (const char* name : {"a", "b", "c", "d"}) {
    request.values.push_back({name, bytes});
  }
  request.cells = {
      {"ab", {0, 1}}, {"bc", {1, 2}}, {"cd", {2, 3}}, {"d", {3, 3}}};
  request.budget_bytes = budget_bytes;
  return request;
}

TEST(RevisedStepsTest, CellsThatAreLeftArePlannedWithTheirOwnNumbers) {
  const ScheduleRequest request = Request(10, 25);
  const auto schedule = PlanSchedule(request);
  ASSERT_THAT(schedule, IsOk());
  const RevisedSteps revised = ReviseSteps(request, *schedule, 1);
  EXPECT_THAT(revised.status, IsOk());
  EXPECT_THAT(revised.refused, IsEmpty());
  ASSERT_THAT(revised.steps, SizeIs(3));
  ASSERT_THAT(revised.cells, SizeIs(3));
  std::set<int> loaded;
  for (const ScheduledStep& step : revised.steps) {
    loaded.insert(step.loads.begin(), step.loads.end());
    for (const int value :
         request.cells[static_cast<size_t>(step.cell)].values) {
      EXPECT_EQ(loaded.count(value), 1u) << step.cell;
    }
    for (const int value : step.evictions) loaded.erase(value);
  }
  EXPECT_THAT(loaded, IsEmpty());
  EXPECT_EQ(revised.load_count, 3);
}

TEST(RevisedStepsTest, CellsThatDoNotFitComeFirstWithoutLoads) {
  ScheduleRequest request = Request(10, 25);
  const auto schedule = PlanSchedule(request);
  ASSERT_THAT(schedule, IsOk());
  request.values[2].bytes = 20;
  const RevisedSteps revised = ReviseSteps(request, *schedule, 0);
  EXPECT_THAT(revised.refused, SizeIs(2));
  ASSERT_THAT(revised.steps, SizeIs(4));
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(revised.refused.count(revised.steps[i].cell), 1u);
    EXPECT_THAT(revised.steps[i].loads, IsEmpty());
  }
  // A value that a cell names twice counts once.
  EXPECT_EQ(revised.steps[2].cell, 0);
  EXPECT_EQ(revised.steps[3].cell, 3);
  EXPECT_THAT(revised.steps[3].loads, ElementsAre(3));
  // Now no cell fits.
  request.budget_bytes = 5;
  EXPECT_THAT(ReviseSteps(request, *schedule, 0).refused, SizeIs(4));
  EXPECT_THAT(ReviseSteps(request, *schedule, 0).cells, IsEmpty());
}

}  // namespace
}  // namespace footprint::memo_internal
