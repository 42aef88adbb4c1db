// Makes a schedule for cells in a fixed order, in one sweep; a part of
// schedule_planner.h.
//
//   const Schedule schedule =
//       ScheduleByBelady(request, {0, 2, 4, 5, 3, 1}, kNoBudget);
//   // schedule.steps[0].cell == 0
//
// Pure and thread-safe: the schedule holds indices of the request, no
// references. Memory: 4 bytes per use of a value, 8 per cell, some 70 per
// value, and the schedule. Time: logarithmic in the number of values for each
// use and each eviction, and more for an eviction that compares more values.

#ifndef FOOTPRINT_MEMO_SCHEDULE_BELADY_SCHEDULE_H_
#define FOOTPRINT_MEMO_SCHEDULE_BELADY_SCHEDULE_H_

#include <cstdint>
#include <vector>

#include "footprint/memo/schedule/schedule.h"

namespace footprint::memo_internal {

inline constexpr int64_t kNoBudget = INT64_MAX;

// Fills in steps, loads, cost and peak. Every cell must fit `budget_bytes` and
// must name no value twice. When room is needed, evicts the value with the
// largest product of bytes and steps to its next use, divided by its load cost.
// Among values of one size and cost this is the value whose next use is
// farthest (Belady's rule).
Schedule ScheduleByBelady(const ScheduleRequest& request,
                          const std::vector<int>& order, int64_t budget_bytes);

}  // namespace footprint::memo_internal

#endif  // FOOTPRINT_MEMO_SCHEDULE_BELADY_SCHEDULE_H_
