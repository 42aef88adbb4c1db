// Plans for many kinds of products do not get worse: their costs, the peaks of
// plans that cost the same, and the bounds that tell how far from the best they
// may be.

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/testing/status_matchers.h"
#include "footprint/memo/schedule/schedule_planner.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

// Unlike distributions, this gives the same numbers with every standard
// library.
class Dice {
 public:
  explicit Dice(uint32_t seed) : engine_(seed) {}
  int Below(int end) {
    return static_cast<int>(engine_() % static_cast<uint32_t>(end));
  }

 private:
  std::mt19937 engine_;
};

void AddValues(int count, bool has_passing, Dice* dice,
               ScheduleRequest* request) {
  for (int i = 0; i < count; ++i) {
    PlannedValue value;
    value.name = absl::StrCat("value", i);
    value.bytes = 1 + dice->Below(100);
    value.load_cost = 1 + dice->Below(50);
    if (has_passing) value.load_peak_bytes = value.bytes + dice->Below(60);
    request->values.push_back(value);
  }
}

// Adds every combination of the axes' values.
void AddProduct(const std::vector<int>& extents, ScheduleRequest* request) {
  std::vector<int> index(extents.size(), 0);
  for (bool is_done = false; !is_done;) {
    PlannedCell cell;
    cell.name = absl::StrCat("cell", request->cells.size());
    int first = 0;
    for (size_t axis = 0; axis < extents.size(); ++axis) {
      cell.values.push_back(first + index[axis]);
      first += extents[axis];
    }
    request->cells.push_back(cell);
    is_done = true;
    for (size_t axis = extents.size(); axis-- > 0 && is_done;) {
      index[axis] = (index[axis] + 1) % extents[axis];
      is_done = index[axis] == 0;
    }
  }
}

void AddAnyCells(int count, int most_needs, Dice* dice,
                 ScheduleRequest* request) {
  const int values = static_cast<int>(request->values.size());
  for (int i = 0; i < count; ++i) {
    PlannedCell cell;
    cell.name = absl::StrCat("cell", i);
    const int needs = 1 + dice->Below(most_needs);
    for (int need = 0; need < needs; ++need) {
      cell.values.push_back(dice->Below(values));
    }
    request->cells.push_back(cell);
  }
}

// Sets a budget at a third of the way from the smallest one to one that changes
// nothing.
void SetBudget(ScheduleRequest* request) {
  const absl::StatusOr<Schedule> free = PlanSchedule(*request);
  ASSERT_THAT(free, IsOk());
  const int64_t least = free->smallest_budget_bytes;
  request->budget_bytes = least + (free->peak_bytes - least) / 3;
}

ScheduleRequest MakeRequest(int number) {
  Dice dice(static_cast<uint32_t>(number));
  ScheduleRequest request;
  const int kind = number % 8;
  const bool has_passing = kind == 2 || kind == 5;
  request.may_reorder = kind >= 4;
  switch (kind) {
    case 0:
    case 4:
      AddValues(21, has_passing, &dice, &request);
      AddProduct({12, 9}, &request);
      break;
    case 1:
    case 5:
      AddValues(15, has_passing, &dice, &request);
      AddProduct({5, 4, 6}, &request);
      break;
    case 2:
    case 6:
      AddValues(25, has_passing, &dice, &request);
      AddAnyCells(60, 4, &dice, &request);
      break;
    default:
      AddValues(12, has_passing, &dice, &request);
      AddProduct({2, 3, 2, 2, 3}, &request);
      break;
  }
  SetBudget(&request);
  return request;
}

struct Recorded {
  int64_t load_cost;
  int64_t peak_bytes;
  int64_t least_load_cost;
};

// The recorded plans, by number. If a plan gets better, record it again.
constexpr Recorded kRecorded[] = {
    {1732, 319, 1202}, {1074, 292, 704}, {894, 554, 623},  {1135, 433, 783},
    {912, 302, 551},   {525, 377, 374},  {799, 373, 676},  {564, 420, 340},
    {1573, 289, 999},  {1260, 362, 800}, {962, 504, 792},  {809, 331, 543},
    {1130, 289, 607},  {654, 349, 371},  {741, 387, 538},  {413, 330, 297},
    {2379, 317, 1738}, {867, 302, 632},  {1044, 555, 727}, {1144, 458, 661},
    {490, 323, 327},   {696, 383, 407},  {904, 639, 647},  {610, 330, 434},
    {1376, 318, 1000}, {1316, 328, 990}, {1315, 628, 928}, {1186, 501, 763},
    {874, 289, 529},   {1133, 327, 513}, {832, 463, 590},  {819, 473, 433},
};

TEST(PlanQualityTest, NoPlanGetsWorse) {
  int number = 0;
  for (const Recorded& recorded : kRecorded) {
    const absl::StatusOr<Schedule> plan = PlanSchedule(MakeRequest(number));
    ASSERT_THAT(plan, IsOk());
    const std::string found =
        absl::StrCat("plan ", number++, " is now {", plan->load_cost, ", ",
                     plan->peak_bytes, ", ", plan->least_load_cost, "}");
    EXPECT_LE(std::make_pair(plan->load_cost, plan->peak_bytes),
              std::make_pair(recorded.load_cost, recorded.peak_bytes))
        << found;
    EXPECT_GE(plan->least_load_cost, recorded.least_load_cost) << found;
    EXPECT_LE(plan->least_load_cost, plan->load_cost) << found;
  }
}

}  // namespace
}  // namespace footprint
