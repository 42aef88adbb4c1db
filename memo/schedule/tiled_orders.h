// Orders of a product's cells that go through it tile by tile; a part of
// schedule_planner.h.
//
//   ForEachTiledOrder(
//       request, cells, budget_bytes, most_orders,
//       [&](const std::vector<int>& order) { orders.push_back(order); });
//
// Every axis is cut into blocks, and a tile is a combination of blocks that fit
// the budget together: while it runs, nothing is loaded. From tile to tile one
// axis changes its block, the innermost one fastest, and each goes forth and
// back in turn. The loads of such an order follow from the cuts and from how
// the axes are nested, so that many tilings are compared before one is tried.
//
// Thread-safe: no state is kept. Memory: some words a use. Time: n log n in the
// cells for each order, and some thousand tilings that are compared.

#ifndef FOOTPRINT_MEMO_SCHEDULE_TILED_ORDERS_H_
#define FOOTPRINT_MEMO_SCHEDULE_TILED_ORDERS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "footprint/memo/schedule/schedule.h"

namespace footprint::memo_internal {

// Calls `take` with at most `most_orders` orders of `cells`, likely better ones
// first. The cells are of one arity, and position i is axis i; the product need
// not be complete.
void ForEachTiledOrder(
    const ScheduleRequest& request, const std::vector<int>& cells,
    int64_t budget_bytes, size_t most_orders,
    absl::FunctionRef<void(const std::vector<int>& order)> take);

}  // namespace footprint::memo_internal

#endif  // FOOTPRINT_MEMO_SCHEDULE_TILED_ORDERS_H_
