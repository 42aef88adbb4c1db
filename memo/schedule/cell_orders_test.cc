#include "footprint/memo/schedule/cell_orders.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint::memo_internal {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(CellOrdersTest, NeighboursOfOneArityAreAGroup) {
  ScheduleRequest request;
  request.values = {{"a", 1}, {"b", 1}};
  request.cells = {
      {"0", {0}}, {"1", {1}}, {"2", {0, 1}}, {"3", {}}, {"4", {1}}};
  EXPECT_THAT(GroupsOfOneArity(request),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2), ElementsAre(3),
                          ElementsAre(4)));
  EXPECT_THAT(GroupsOfOneArity(ScheduleRequest()), IsEmpty());
}

TEST(CellOrdersTest, ManyGroupsBecomeOneOfEachArity) {
  ScheduleRequest request;
  request.values = {{"a", 1}, {"b", 1}};
  for (size_t i = 0; i <= kMostGroups; ++i) {
    request.cells.push_back(i % 2 == 0 ? PlannedCell{"one", {0}}
                                       : PlannedCell{"two", {0, 1}});
  }
  const std::vector<std::vector<int>> groups = GroupsOfOneArity(request);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].size(), kMostGroups / 2 + 1);
  EXPECT_EQ(groups[1].front(), 1);
  request.cells.pop_back();
  EXPECT_EQ(GroupsOfOneArity(request).size(), kMostGroups);
}

TEST(CellOrdersTest, GoesOnWithWhatNeedsFewestBytesMore) {
  ScheduleRequest request;
  request.values = {{"a", 5}, {"b", 4}, {"c", 1}};
  request.cells = {{"0", {0}}, {"1", {1, 2}}, {"2", {2}}, {"3", {0, 2}}};
  EXPECT_THAT(GreedyOrder(request), ElementsAre(2, 1, 3, 0));
}

TEST(CellOrdersTest, AboveTheLimitTheGivenOrderStays) {
  ScheduleRequest request;
  request.values = {{"a", 1}, {"b", 2}};
  for (size_t i = 0; i <= kMostGreedyCells; ++i) {
    request.cells.push_back({"cell", {i % 2 == 0 ? 1 : 0}});
  }
  std::vector<int> given(request.cells.size());
  std::iota(given.begin(), given.end(), 0);
  EXPECT_EQ(GreedyOrder(request), given);
  request.cells.pop_back();
  given.pop_back();
  EXPECT_NE(GreedyOrder(request), given);
}

}  // namespace
}  // namespace footprint::memo_internal
