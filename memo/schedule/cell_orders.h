// Finds groups of cells that belong together, and an order that brings together
// cells which share values; a part of schedule_planner.h.
//
//   for (const std::vector<int>& group : GroupsOfOneArity(request)) {
//     Use(group);  // indices of request.cells
//   }
//
// Pure functions, thread-safe: orders are indices of the request's cells.
// Memory: some words per use of a value.

#ifndef FOOTPRINT_MEMO_SCHEDULE_CELL_ORDERS_H_
#define FOOTPRINT_MEMO_SCHEDULE_CELL_ORDERS_H_

#include <cstddef>
#include <vector>

#include "footprint/memo/schedule/schedule.h"

namespace footprint::memo_internal {

// Returns groups of neighbouring cells of one arity, such as the cells of a
// product. If these are more than kMostGroups, returns one group for each
// arity.
inline constexpr size_t kMostGroups = 64;
std::vector<std::vector<int>> GroupsOfOneArity(const ScheduleRequest& request);

// Returns an order that continues, after each cell, with the cell for which the
// fewest bytes must be loaded; among equal cells, with the one that frees the
// most bytes. The order brings together cells of several products that share
// values. Above kMostGreedyCells cells it is the given order, since the time is
// quadratic.
inline constexpr size_t kMostGreedyCells = 512;
std::vector<int> GreedyOrder(const ScheduleRequest& request);

}  // namespace footprint::memo_internal

#endif  // FOOTPRINT_MEMO_SCHEDULE_CELL_ORDERS_H_
