#include "footprint/memo/schedule/schedule.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace footprint {
namespace {

PlannedValue Value(const std::string& name, int64_t bytes,
                   int64_t load_peak_bytes = 0) {
  PlannedValue value;
  value.name = name;
  value.bytes = bytes;
  value.load_peak_bytes = load_peak_bytes;
  return value;
}

ScheduleRequest MakeRequest(std::vector<PlannedValue> values) {
  ScheduleRequest request;
  request.values = std::move(values);
  return request;
}

TEST(PlannedValueTest, WhatALoadNeedsBesidesPasses) {
  EXPECT_EQ(Value("a", 10, 16).passing_bytes(), 6);
  EXPECT_EQ(Value("a", 10, 10).passing_bytes(), 0);
  // If the peak is less than the bytes, the bytes count.
  EXPECT_EQ(Value("a", 10, 3).passing_bytes(), 0);
}

TEST(ScheduleTest, EachMethodHasAName) {
  EXPECT_STREQ(ScheduleMethodName(ScheduleMethod::kKeepToLastUse),
               "keep to last use");
  EXPECT_STREQ(ScheduleMethodName(ScheduleMethod::kBeladyOfEqualSizes),
               "Belady of equal sizes");
  EXPECT_STREQ(ScheduleMethodName(ScheduleMethod::kExactSearch),
               "exact search");
  EXPECT_STREQ(ScheduleMethodName(ScheduleMethod::kBeladyByBytes),
               "Belady by bytes");
}

TEST(ScheduleTest, ThePeakIsOfWhatIsAliveTogether) {
  const ScheduleRequest request =
      MakeRequest({Value("a", 10), Value("b", 20), Value("c", 5)});
  Schedule schedule;
  schedule.steps = {{0, {0, 1}, {0}}, {1, {2}, {1, 2}}};
  // First a and b are alive, then b and c.
  EXPECT_EQ(PeakBytes(request, schedule), 30);
  EXPECT_EQ(PeakCount(schedule), 2);
  // All three are alive if no value is evicted.
  schedule.steps[0].evictions.clear();
  EXPECT_EQ(PeakBytes(request, schedule), 35);
  EXPECT_EQ(PeakCount(schedule), 3);
}

TEST(ScheduleTest, ALoadThatPassesMoreRaisesThePeak) {
  const ScheduleRequest request =
      MakeRequest({Value("a", 10), Value("b", 20, 50)});
  Schedule schedule;
  schedule.steps = {{0, {0, 1}, {}}};
  EXPECT_EQ(PeakBytes(request, schedule), 60);
  // b is loaded before a.
  schedule.steps = {{0, {1, 0}, {}}};
  EXPECT_EQ(PeakBytes(request, schedule), 50);
}

TEST(ScheduleTest, NoStepsNeedNothing) {
  EXPECT_EQ(PeakBytes(MakeRequest({}), Schedule()), 0);
  EXPECT_EQ(PeakCount(Schedule()), 0);
}

TEST(SortLoadsTest, WhatPassesMostGoesFirst) {
  const ScheduleRequest request = MakeRequest(
      {Value("a", 10), Value("b", 20, 50), Value("c", 5, 15), Value("d", 7)});
  std::vector<int> loads = {0, 1, 2, 3};
  SortLoads(request, &loads);
  EXPECT_EQ(loads, (std::vector<int>{1, 2, 0, 3}));
}

TEST(SortLoadsTest, WhatPassesAsMuchStaysInItsOrder) {
  ScheduleRequest request;
  std::vector<int> loads;
  for (int i = 0; i < 100; ++i) {
    request.values.push_back(Value("v", 10, i % 2 == 0 ? 30 : 20));
    loads.push_back(i);
  }
  SortLoads(request, &loads);
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(loads[static_cast<size_t>(i)], 2 * i);
    EXPECT_EQ(loads[static_cast<size_t>(50 + i)], 2 * i + 1);
  }
}

TEST(SortLoadsTest, NoOtherOrderNeedsLess) {
  const ScheduleRequest request =
      MakeRequest({Value("a", 10, 12), Value("b", 20, 50), Value("c", 5, 15)});
  const auto peak = [&request](const std::vector<int>& loads) {
    Schedule schedule;
    schedule.steps = {{0, loads, {}}};
    return PeakBytes(request, schedule);
  };
  std::vector<int> order = {0, 1, 2};
  int64_t least = peak(order);
  do {
    least = std::min(least, peak(order));
  } while (std::next_permutation(order.begin(), order.end()));
  std::vector<int> sorted = {0, 1, 2};
  SortLoads(request, &sorted);
  EXPECT_EQ(peak(sorted), least);
  EXPECT_EQ(PassingBytes(request, sorted), least - 35);
}

TEST(PassingBytesTest, IsNothingWhereNothingPasses) {
  const ScheduleRequest request = MakeRequest({Value("a", 10), Value("b", 20)});
  EXPECT_EQ(PassingBytes(request, {0, 1}), 0);
  EXPECT_EQ(PassingBytes(request, {}), 0);
}

}  // namespace
}  // namespace footprint
