// Improves an order of cells step by step; a part of schedule_planner.h for
// lists of cells that are not products.
//
//   std::vector<int> order = GreedyOrder(request);
//   order = ImproveOrder(request, budget_bytes, least_load_cost, order);
//
// A step moves a few neighbouring cells to another place, sometimes reversed.
// It keeps the new order unless its load cost exceeds the present one by more
// than a threshold, which falls to zero. The result is the best order found.
//
// Pure, deterministic and thread-safe: the generator of random numbers has a
// fixed seed. Memory: three orders and one schedule. Time: some 0.1 s.
// Source: threshold accepting, G. Dueck and T. Scheuer, Journal of
// Computational Physics 90, 1990.

#ifndef FOOTPRINT_MEMO_SCHEDULE_IMPROVED_ORDER_H_
#define FOOTPRINT_MEMO_SCHEDULE_IMPROVED_ORDER_H_

#include <cstdint>
#include <vector>

#include "footprint/memo/schedule/schedule.h"

namespace footprint::memo_internal {

// Returns whether the request has 3 to 64 cells. More cells take too long per
// move to improve much.
bool MayImproveOrder(const ScheduleRequest& request);

// Returns an order of the cells in `order` whose schedule by Belady's rule
// (belady_schedule.h) costs at most as much as that of `order`; at equal cost
// its peak is at most as high. Stops early at a cost of `least_load_cost`, the
// bound for every schedule. MayImproveOrder must be true of the request.
std::vector<int> ImproveOrder(const ScheduleRequest& request,
                              int64_t budget_bytes, int64_t least_load_cost,
                              const std::vector<int>& order);

}  // namespace footprint::memo_internal

#endif  // FOOTPRINT_MEMO_SCHEDULE_IMPROVED_ORDER_H_
