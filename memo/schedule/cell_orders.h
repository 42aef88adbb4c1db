// Cells that belong together, and an order of cells that share values; a part
// of schedule_planner.h.
//
//   for (const std::vector<int>& group : GroupsOfOneArity(request)) {
//     Use(group);  // indices of request.cells
//   }
//
// Pure functions, thread-safe: orders are indices of the request's cells.
// Memory: some words a use of a value.

#ifndef FOOTPRINT_MEMO_SCHEDULE_CELL_ORDERS_H_
#define FOOTPRINT_MEMO_SCHEDULE_CELL_ORDERS_H_

#include <cstddef>
#include <vector>

#include "footprint/memo/schedule/schedule.h"

namespace footprint::memo_internal {

// Neighbouring cells of one arity, as those of a product are; where these would
// be more than kMostGroups, all cells of one arity.
inline constexpr size_t kMostGroups = 64;
std::vector<std::vector<int>> GroupsOfOneArity(const ScheduleRequest& request);

// The order that goes on, from cell to cell, with the one that needs fewest
// bytes more; of equal ones, with the one that frees most. It brings together
// cells of several products that share values. Above kMostGreedyCells cells,
// the given order: the time is quadratic.
inline constexpr size_t kMostGreedyCells = 512;
std::vector<int> GreedyOrder(const ScheduleRequest& request);

}  // namespace footprint::memo_internal

#endif  // FOOTPRINT_MEMO_SCHEDULE_CELL_ORDERS_H_
