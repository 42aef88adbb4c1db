#include "footprint/memo/schedule/cell_orders.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <utility>

namespace footprint::memo_internal {
namespace {

// Chooses one cell after the other.
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

  // Returns the bytes that a cell needs to load, and minus the bytes that it
  // frees.
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

std::vector<std::vector<int>> GroupsOfOneArity(const ScheduleRequest& request) {
  std::vector<std::vector<int>> neighbours;
  std::map<size_t, std::vector<int>> all;
  size_t arity_before = 0;
  for (size_t cell = 0; cell < request.cells.size(); ++cell) {
    const size_t arity = request.cells[cell].values.size();
    if (cell == 0 || arity != arity_before) neighbours.emplace_back();
    arity_before = arity;
    neighbours.back().push_back(static_cast<int>(cell));
    all[arity].push_back(static_cast<int>(cell));
  }
  if (neighbours.size() <= kMostGroups) return neighbours;
  std::vector<std::vector<int>> groups;
  for (auto& [arity, cells] : all) groups.push_back(std::move(cells));
  return groups;
}

}  // namespace footprint::memo_internal
