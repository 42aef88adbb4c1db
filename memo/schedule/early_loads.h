// Loads values before an earlier cell than the one that needs them, if that
// saves loads; a part of schedule_planner.h.
//
//   Schedule better = LoadEarlier(request, budget_bytes, schedule);
//
// A load that needs more bytes than its value may force other values out, which
// are then loaded again. An earlier load, when fewer bytes are alive, may force
// none out. The search takes one load at a time, tries to place it before one
// of the 16 preceding cells, and keeps the first place that lowers the cost.
// The result is good, but not proved optimal.
//
// Pure and thread-safe. Memory: a copy of the request. Time: a sweep for each
// try, with at most two million uses in all.

#ifndef FOOTPRINT_MEMO_SCHEDULE_EARLY_LOADS_H_
#define FOOTPRINT_MEMO_SCHEDULE_EARLY_LOADS_H_

#include <cstdint>

#include "footprint/memo/schedule/schedule.h"

namespace footprint::memo_internal {

// Returns whether the load of a value that some cell needs takes more bytes
// than the value. If no load does, an early load saves nothing.
bool HasPassingBytes(const ScheduleRequest& request);

// Returns the request, but each load takes no more bytes than its value. No
// schedule of the given request costs less than the best schedule of the
// returned one.
ScheduleRequest WithoutPassingBytes(ScheduleRequest request);

// Returns the bytes that a cell needs for its values and to load all of them.
int64_t CellBytes(const ScheduleRequest& request, const PlannedCell& cell);

// Returns `schedule`, or a schedule with the same order of cells that costs
// less.
Schedule LoadEarlier(const ScheduleRequest& request, int64_t budget_bytes,
                     Schedule schedule);

}  // namespace footprint::memo_internal

#endif  // FOOTPRINT_MEMO_SCHEDULE_EARLY_LOADS_H_
