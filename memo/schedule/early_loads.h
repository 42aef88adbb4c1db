// Loads values before an earlier cell than the one that needs them, where that
// saves loads; a part of schedule_planner.h.
//
//   Schedule better = LoadEarlier(request, order, budget_bytes, schedule);
//
// A load that needs more bytes than its value drives others out, which are then
// loaded again. Loaded earlier, when less is alive, it drives out nobody.
// Values are tried one after the other, from each of their loads some cells
// backwards, and what costs less is kept: good, not proved optimal.
//
// Pure, thread-safe. Memory: a copy of the request. Time: a sweep for each try,
// and some million uses in all.

#ifndef FOOTPRINT_MEMO_SCHEDULE_EARLY_LOADS_H_
#define FOOTPRINT_MEMO_SCHEDULE_EARLY_LOADS_H_

#include <cstdint>

#include "footprint/memo/schedule/schedule.h"

namespace footprint::memo_internal {

// Returns whether a load of a value that some cell needs takes more than the
// value. Where none does, an early load saves nothing.
bool HasPassingBytes(const ScheduleRequest& request);

// The same request where loads take their values' bytes alone: no schedule of
// the request costs less than the best of this one.
ScheduleRequest WithoutPassingBytes(ScheduleRequest request);

// Bytes that a cell needs for its values, and to load them all.
int64_t CellBytes(const ScheduleRequest& request, const PlannedCell& cell);

// `schedule`, or one of its order of cells that costs less.
Schedule LoadEarlier(const ScheduleRequest& request, int64_t budget_bytes,
                     Schedule schedule);

}  // namespace footprint::memo_internal

#endif  // FOOTPRINT_MEMO_SCHEDULE_EARLY_LOADS_H_
