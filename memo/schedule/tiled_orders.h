// Makes orders of a product's cells that go through it tile by tile; a part of
// schedule_planner.h.
//
//   ForEachTiledOrder(
//       request, cells, budget_bytes, most_orders,
//       [&](const std::vector<int>& order) { orders.push_back(order); });
//
// Every axis is cut into blocks. A tile is a combination of blocks that fit the
// budget together, so a tile loads nothing while it runs; if no cut of an axis
// fits, its blocks are single values. From tile to tile one axis changes its
// block, the innermost one fastest, and each axis alternates between forward
// and backward. The loads of such an order follow from the cuts and from the
// nesting of the axes, so many tilings are compared before one is tried.
//
// Thread-safe, since it keeps no state. Memory: some words per use. Time: n log
// n in the cells for each order, and some thousand tilings that are compared.

#ifndef FOOTPRINT_MEMO_SCHEDULE_TILED_ORDERS_H_
#define FOOTPRINT_MEMO_SCHEDULE_TILED_ORDERS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "footprint/memo/schedule/schedule.h"

namespace footprint::memo_internal {

// Calls `take` with at most `most_orders` orders of `cells`, those that are
// probably better first. The cells must have one arity; position i is axis i.
// The product need not be complete.
void ForEachTiledOrder(
    const ScheduleRequest& request, const std::vector<int>& cells,
    int64_t budget_bytes, size_t most_orders,
    absl::FunctionRef<void(const std::vector<int>& order)> take);

}  // namespace footprint::memo_internal

#endif  // FOOTPRINT_MEMO_SCHEDULE_TILED_ORDERS_H_
