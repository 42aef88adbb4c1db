// Improves an order of cells step by step: a part of schedule_planner.h for
// lists of cells that are no products.
//
//   std::vector<int> order = GreedyOrder(request);
//   order = ImproveOrder(request, budget_bytes, least_load_cost, order);
//
// Moves a few neighbouring cells to another place, sometimes reversed, and
// keeps the new order unless its load cost is above the present one by more
// than a threshold, which falls to zero. The best order seen is returned.
//
// Pure, deterministic and thread-safe: the numbers are those of a generator
// with a fixed seed. Memory: three orders and one schedule. Time: some 0.1 s.
// Source: threshold accepting, G. Dueck and T. Scheuer, Journal of
// Computational Physics 90, 1990.

#ifndef FOOTPRINT_MEMO_SCHEDULE_IMPROVED_ORDER_H_
#define FOOTPRINT_MEMO_SCHEDULE_IMPROVED_ORDER_H_

#include <cstdint>
#include <vector>

#include "footprint/memo/schedule/schedule.h"

namespace footprint::memo_internal {

// Returns whether the request has 3 to 64 cells: moves of more cells than that
// take too long to improve much.
bool MayImproveOrder(const ScheduleRequest& request);

// Returns an order of the cells in `order` whose schedule by Belady's rule
// (belady_schedule.h) costs at most as much, and at equal cost has at most as
// high a peak. Stops early at a cost of `least_load_cost`, which no schedule
// gets below. The request must be one that MayImproveOrder.
std::vector<int> ImproveOrder(const ScheduleRequest& request,
                              int64_t budget_bytes, int64_t least_load_cost,
                              const std::vector<int>& order);

}  // namespace footprint::memo_internal

#endif  // FOOTPRINT_MEMO_SCHEDULE_IMPROVED_ORDER_H_
