// Lower bounds on every schedule's load cost; a part of schedule_planner.h.
//
//   const int64_t bound = LeastCostInOrder(request, *request.budget_bytes);
//   schedule.is_optimal = schedule.load_cost == bound;
//
// In the given order: the bound lets a schedule keep part of a value, byte by
// byte, which can only lower the cost. If all bytes cost the same to load,
// Belady's rule is then optimal. Otherwise the cost of each byte is cut into
// layers of one price each; the bound is the sum of the layers' least costs.
//
// In any order: a cell can run from the moment at which the last of its values
// is loaded. One load makes at most as many cells ready as there are
// combinations of the other axes' values that fit into the budget beside the
// loaded value. The first loads together make at most as many cells ready as
// there are combinations among them. All cells must become ready, so this
// gives the fewest loads. The same argument holds for any subset of the axes.
//
// Both bounds include every value's first load. Pure functions. Thread-safe.
// Memory: some words per use. Time: n log n in the uses, for each of at most 16
// layers or 11 subsets of axes.

#ifndef FOOTPRINT_MEMO_SCHEDULE_LOAD_BOUND_H_
#define FOOTPRINT_MEMO_SCHEDULE_LOAD_BOUND_H_

#include <cstdint>

#include "footprint/memo/schedule/schedule.h"

namespace footprint::memo_internal {

// Returns the cost of loading each value that a cell names once.
int64_t CompulsoryCost(const ScheduleRequest& request);

// Returns a lower bound for the load cost of every schedule of the cells in the
// given order. Every cell must fit `budget_bytes` and must name no value twice.
int64_t LeastCostInOrder(const ScheduleRequest& request, int64_t budget_bytes);

// Returns a lower bound for the load cost of every schedule of the cells, in
// any order. The same must hold for the cells.
int64_t LeastCostInAnyOrder(const ScheduleRequest& request,
                            int64_t budget_bytes);

}  // namespace footprint::memo_internal

#endif  // FOOTPRINT_MEMO_SCHEDULE_LOAD_BOUND_H_
