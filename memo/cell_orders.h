// Orders of cells that share much from one cell to the next; a part of
// schedule_planner.h.

#ifndef FOOTPRINT_MEMO_CELL_ORDERS_H_
#define FOOTPRINT_MEMO_CELL_ORDERS_H_

#include <cstdint>
#include <vector>

#include "footprint/memo/schedule.h"

namespace footprint::memo_internal {

// For each axis of the widest cells, the order that holds as many values of
// that axis as `budget_bytes` allows while the other axes go back and forth
// past them; cells of another arity than their neighbours are ordered among
// themselves. Each order names every cell once.
std::vector<std::vector<int>> SerpentineOrders(const ScheduleRequest& request,
                                               int64_t budget_bytes);

}  // namespace footprint::memo_internal

#endif  // FOOTPRINT_MEMO_CELL_ORDERS_H_
