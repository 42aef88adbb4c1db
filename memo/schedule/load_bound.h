// Lower bounds on every schedule's load cost; a part of schedule_planner.h.
//
//   const int64_t bound = LeastCostInOrder(request, *request.budget_bytes);
//   schedule.is_optimal = schedule.load_cost == bound;
//
// In the given order: a value may be kept in part, byte by byte, which can only
// help. Where all bytes cost the same to load, Belady's rule is then optimal.
// Where they do not, a byte's cost is the sum of layers of one price each, and
// the least costs of the layers add up.
//
// In any order: a cell can run from the moment at which the last of its values
// is loaded. One load brings at most as many cells into that state as the
// budget has room for combinations of the other axes' values beside it, and the
// first loads together no more than there are combinations among them. All
// cells must come; so there are at least so many loads. The same holds for some
// of the axes alone.
//
// Both count every value's first load. Pure functions. Thread-safe. Memory:
// some words a use. Time: n log n in the uses, times kMostLayers at most.

#ifndef FOOTPRINT_MEMO_SCHEDULE_LOAD_BOUND_H_
#define FOOTPRINT_MEMO_SCHEDULE_LOAD_BOUND_H_

#include <cstdint>

#include "footprint/memo/schedule/schedule.h"

namespace footprint::memo_internal {

// Cost of loading each value once.
int64_t CompulsoryCost(const ScheduleRequest& request);

// The load cost that no schedule of the cells in the given order gets below.
// Every cell must fit `budget_bytes`, and name no value twice.
int64_t LeastCostInOrder(const ScheduleRequest& request, int64_t budget_bytes);

// The same of every order.
int64_t LeastCostInAnyOrder(const ScheduleRequest& request,
                            int64_t budget_bytes);

}  // namespace footprint::memo_internal

#endif  // FOOTPRINT_MEMO_SCHEDULE_LOAD_BOUND_H_
