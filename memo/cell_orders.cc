#include "footprint/memo/cell_orders.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace footprint::memo_internal {
namespace {

// The values of one axis, each with its rank: the place of its first cell.
class AxisRanks {
 public:
  AxisRanks(const ScheduleRequest& request, const std::vector<int>& cells,
            size_t axis)
      : rank_(request.values.size(), -1) {
    for (int cell : cells) {
      const int value = request.cells[static_cast<size_t>(cell)].values[axis];
      int& rank = rank_[static_cast<size_t>(value)];
      if (rank >= 0) continue;
      rank = static_cast<int>(bytes_.size());
      bytes_.push_back(request.values[static_cast<size_t>(value)].bytes);
    }
  }

  int64_t size() const { return static_cast<int64_t>(bytes_.size()); }
  int Rank(int value) const { return rank_[static_cast<size_t>(value)]; }
  int64_t LargestBytes() const {
    return *std::max_element(bytes_.begin(), bytes_.end());
  }

  // For each rank the block that it is in; a block fits `room_bytes`, or is one
  // value.
  std::vector<int64_t> Blocks(int64_t room_bytes) const {
    std::vector<int64_t> blocks;
    int64_t block = 0;
    int64_t left_bytes = room_bytes;
    for (int64_t bytes : bytes_) {
      if (bytes > left_bytes && left_bytes != room_bytes) {
        ++block;
        left_bytes = room_bytes;
      }
      left_bytes -= bytes;
      blocks.push_back(block);
    }
    return blocks;
  }

 private:
  std::vector<int> rank_;
  std::vector<int64_t> bytes_;
};

// Neighbours in the reflected order of all combinations of the other axes
// differ in one axis only.
int64_t ReflectedIndex(const PlannedCell& cell,
                       const std::vector<AxisRanks>& axes, size_t held_axis,
                       bool is_reversed) {
  int64_t index = 0;
  int64_t count = 1;
  for (size_t axis = 0; axis < axes.size(); ++axis) {
    if (axis == held_axis) continue;
    const int64_t rank = axes[axis].Rank(cell.values[axis]);
    const int64_t size = axes[axis].size();
    index = index * size + (index % 2 == 1 ? size - 1 - rank : rank);
    count *= size;
  }
  return is_reversed ? count - 1 - index : index;
}

std::vector<int> OrderGroup(const ScheduleRequest& request,
                            const std::vector<int>& cells, size_t held_axis,
                            int64_t budget_bytes) {
  const size_t arity =
      request.cells[static_cast<size_t>(cells[0])].values.size();
  if (held_axis >= arity) return cells;
  std::vector<AxisRanks> axes;
  int64_t room_bytes = budget_bytes;
  for (size_t axis = 0; axis < arity; ++axis) {
    axes.emplace_back(request, cells, axis);
    if (axis != held_axis) room_bytes -= axes.back().LargestBytes();
  }
  const std::vector<int64_t> blocks = axes[held_axis].Blocks(room_bytes);
  std::vector<std::tuple<int64_t, int64_t, int, int>> keys;
  keys.reserve(cells.size());
  for (int index : cells) {
    const PlannedCell& cell = request.cells[static_cast<size_t>(index)];
    const int rank = axes[held_axis].Rank(cell.values[held_axis]);
    const int64_t block = blocks[static_cast<size_t>(rank)];
    keys.emplace_back(block,
                      ReflectedIndex(cell, axes, held_axis, block % 2 == 1),
                      rank, index);
  }
  std::sort(keys.begin(), keys.end());
  std::vector<int> order;
  order.reserve(keys.size());
  for (const auto& key : keys) order.push_back(std::get<3>(key));
  return order;
}

// Neighbouring cells of one arity.
std::vector<std::vector<int>> Groups(const ScheduleRequest& request) {
  std::vector<std::vector<int>> groups;
  for (size_t cell = 0; cell < request.cells.size(); ++cell) {
    if (cell == 0 || request.cells[cell].values.size() !=
                         request.cells[cell - 1].values.size()) {
      groups.emplace_back();
    }
    groups.back().push_back(static_cast<int>(cell));
  }
  return groups;
}

}  // namespace

std::vector<std::vector<int>> SerpentineOrders(const ScheduleRequest& request,
                                               int64_t budget_bytes) {
  size_t widest = 0;
  for (const PlannedCell& cell : request.cells) {
    widest = std::max(widest, cell.values.size());
  }
  const std::vector<std::vector<int>> groups = Groups(request);
  std::vector<std::vector<int>> orders;
  for (size_t held_axis = 0; held_axis < widest; ++held_axis) {
    std::vector<int>& order = orders.emplace_back();
    for (const std::vector<int>& group : groups) {
      const std::vector<int> ordered =
          OrderGroup(request, group, held_axis, budget_bytes);
      order.insert(order.end(), ordered.begin(), ordered.end());
    }
  }
  return orders;
}

}  // namespace footprint::memo_internal
