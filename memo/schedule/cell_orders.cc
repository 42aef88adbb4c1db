#include "footprint/memo/schedule/cell_orders.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

namespace footprint::memo_internal {
namespace {

// The values of one axis, each with its rank: the index of its first cell.
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

// What cells are ordered by: the block of the held axis, then the other axes,
// each run through forth and back in turn so that neighbours differ in one of
// them only, then the rank within the block. A list of numbers a cell, since
// their product would overflow where there are many axes.
class CellKeys {
 public:
  CellKeys(const std::vector<AxisRanks>& axes, size_t held_axis,
           std::vector<int64_t> block_of_rank)
      : axes_(axes),
        held_axis_(held_axis),
        block_of_rank_(std::move(block_of_rank)) {}

  void Add(const PlannedCell& cell) {
    const int held_rank = axes_[held_axis_].Rank(cell.values[held_axis_]);
    const int64_t block = block_of_rank_[static_cast<size_t>(held_rank)];
    numbers_.push_back(block);
    // Whether the combinations of the slower axes before this one are odd in
    // number.
    bool is_odd = false;
    for (size_t axis = 0; axis < axes_.size(); ++axis) {
      if (axis == held_axis_) continue;
      const int64_t last = axes_[axis].size() - 1;
      const int64_t rank = axes_[axis].Rank(cell.values[axis]);
      const int64_t index = is_odd ? last - rank : rank;
      numbers_.push_back(block % 2 == 1 ? last - index : index);
      is_odd = (is_odd && last % 2 == 0) != (index % 2 == 1);
    }
    numbers_.push_back(held_rank);
  }

  bool IsLess(size_t cell, size_t than) const {
    const size_t length = axes_.size() + 1;
    const auto begin = numbers_.begin() + static_cast<ptrdiff_t>(cell * length);
    const auto other = numbers_.begin() + static_cast<ptrdiff_t>(than * length);
    const auto end = begin + static_cast<ptrdiff_t>(length);
    const auto [mine, theirs] = std::mismatch(begin, end, other);
    return mine == end ? cell < than : *mine < *theirs;
  }

 private:
  const std::vector<AxisRanks>& axes_;
  const size_t held_axis_;
  const std::vector<int64_t> block_of_rank_;
  std::vector<int64_t> numbers_;
};

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
  CellKeys keys(axes, held_axis, axes[held_axis].Blocks(room_bytes));
  for (int cell : cells) keys.Add(request.cells[static_cast<size_t>(cell)]);
  std::vector<size_t> indices(cells.size());
  std::iota(indices.begin(), indices.end(), 0);
  std::sort(indices.begin(), indices.end(),
            [&](size_t a, size_t b) { return keys.IsLess(a, b); });
  std::vector<int> order;
  order.reserve(cells.size());
  for (size_t index : indices) order.push_back(cells[index]);
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

namespace {

// Chooses cells one after the other.
class GreedyWalk {
 public:
  explicit GreedyWalk(const ScheduleRequest& request)
      : request_(request),
        uses_left_(request.values.size()),
        is_loaded_(request.values.size()) {
    for (const PlannedCell& cell : request.cells) {
      for (int value : cell.values) ++uses_left_[static_cast<size_t>(value)];
    }
  }

  std::vector<int> Run() {
    std::vector<int> left(request_.cells.size());
    std::iota(left.begin(), left.end(), 0);
    std::vector<int> order;
    while (!left.empty()) {
      const auto best =
          std::min_element(left.begin(), left.end(),
                           [this](int a, int b) { return Rank(a) < Rank(b); });
      for (int value : Values(*best)) {
        is_loaded_[static_cast<size_t>(value)] = true;
        --uses_left_[static_cast<size_t>(value)];
      }
      order.push_back(*best);
      left.erase(best);
    }
    return order;
  }

 private:
  const std::vector<int>& Values(int cell) const {
    return request_.cells[static_cast<size_t>(cell)].values;
  }

  // What it needs more, and, negative, what it frees.
  std::pair<int64_t, int64_t> Rank(int cell) const {
    int64_t needed_bytes = 0;
    int64_t freed_bytes = 0;
    for (int value : Values(cell)) {
      const auto index = static_cast<size_t>(value);
      const int64_t bytes = request_.values[index].bytes;
      if (!is_loaded_[index]) needed_bytes += bytes;
      if (uses_left_[index] == 1) freed_bytes += bytes;
    }
    return {needed_bytes, -freed_bytes};
  }

  const ScheduleRequest& request_;
  std::vector<int> uses_left_;
  std::vector<bool> is_loaded_;
};

}  // namespace

std::vector<int> GreedyOrder(const ScheduleRequest& request) {
  if (request.cells.size() <= kMostGreedyCells) {
    return GreedyWalk(request).Run();
  }
  std::vector<int> order(request.cells.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

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
