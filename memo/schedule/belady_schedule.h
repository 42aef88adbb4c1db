// A schedule for cells in a fixed order, made in one sweep; a part of
// schedule_planner.h.
//
//   const Schedule schedule =
//       ScheduleByBelady(request, {0, 2, 4, 5, 3, 1}, kNoBudget);
//   // schedule.steps[0].cell == 0
//
// Pure, thread-safe: the schedule holds indices of the request, no references.
// Memory: 4 bytes a use, 8 a cell, some 70 a value, and the schedule. Time:
// logarithmic in the values for each use and each eviction, and for some values
// more that an eviction considers.

#ifndef FOOTPRINT_MEMO_SCHEDULE_BELADY_SCHEDULE_H_
#define FOOTPRINT_MEMO_SCHEDULE_BELADY_SCHEDULE_H_

#include <cstdint>
#include <vector>

#include "footprint/memo/schedule/schedule.h"

namespace footprint::memo_internal {

inline constexpr int64_t kNoBudget = INT64_MAX;

// Fills steps, loads, cost and peak. Every cell must fit `budget_bytes`, and
// name no value twice. Evicts, when room is needed, the value with the largest
// product of bytes and distance to its next use for its cost; among values of
// one size and cost that is the one used last, as Belady's rule has it.
Schedule ScheduleByBelady(const ScheduleRequest& request,
                          const std::vector<int>& order, int64_t budget_bytes);

}  // namespace footprint::memo_internal

#endif  // FOOTPRINT_MEMO_SCHEDULE_BELADY_SCHEDULE_H_
