// Orders of cells that share much from one cell to the next; a part of
// schedule_planner.h.

#ifndef FOOTPRINT_MEMO_SCHEDULE_CELL_ORDERS_H_
#define FOOTPRINT_MEMO_SCHEDULE_CELL_ORDERS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "footprint/memo/schedule/schedule.h"

namespace footprint::memo_internal {

// For each axis of the widest cells, the order that holds as many values of
// that axis as `budget_bytes` allows while the other axes go back and forth
// past them; cells of another arity than their neighbours are ordered among
// themselves. Each order names every cell once.
std::vector<std::vector<int>> SerpentineOrders(const ScheduleRequest& request,
                                               int64_t budget_bytes);

// The order that goes on, from cell to cell, with the one that needs fewest
// bytes more; of equal ones, with the one that frees most. It brings together
// cells of several products that share values. Above kMostGreedyCells cells,
// the given order: the time is quadratic.
inline constexpr size_t kMostGreedyCells = 512;
std::vector<int> GreedyOrder(const ScheduleRequest& request);

}  // namespace footprint::memo_internal

#endif  // FOOTPRINT_MEMO_SCHEDULE_CELL_ORDERS_H_
