#include "footprint/memo/schedule/improved_order.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>

#include "footprint/memo/schedule/belady_schedule.h"

namespace footprint::memo_internal {
namespace {

// The limit of uses that all trials together schedule.
constexpr size_t kMostTriedUses = 1'500'000;
constexpr size_t kFewestCells = 3;
constexpr size_t kMostCells = 64;
constexpr size_t kMostMovedCells = 4;

// The load cost and the peak.
using Cost = std::pair<int64_t, int64_t>;

Cost ComputeCost(const ScheduleRequest& request, const std::vector<int>& order,
                 int64_t budget_bytes) {
  const Schedule schedule = ScheduleByBelady(request, order, budget_bytes);
  return {schedule.load_cost, schedule.peak_bytes};
}

// Takes a few neighbours out of an order and inserts them elsewhere.
class RandomMove {
 public:
  void Apply(std::vector<int>* order) {
    const size_t count =
        1 + Below(std::min(kMostMovedCells, order->size() - 1));
    const size_t from = Below(order->size() - count + 1);
    const size_t to = Below(order->size() - count + 1);
    const auto begin = order->begin();
    const auto at = [begin](size_t index) {
      return begin + static_cast<std::ptrdiff_t>(index);
    };
    if (count > 1 && Below(2) == 0) std::reverse(at(from), at(from + count));
    if (to < from) {
      std::rotate(at(to), at(from), at(from + count));
    } else {
      std::rotate(at(from), at(from + count), at(to + count));
    }
  }

 private:
  // Distributions differ between standard libraries; this does not.
  size_t Below(size_t end) { return engine_() % end; }

  std::mt19937 engine_;
};

size_t CountUses(const ScheduleRequest& request) {
  size_t use_count = 0;
  for (const PlannedCell& cell : request.cells) {
    use_count += cell.values.size();
  }
  return use_count;
}

size_t CountMoves(const ScheduleRequest& request) {
  return kMostTriedUses / std::max<size_t>(1, CountUses(request));
}

// Returns the mean load cost of a use, so that at first a move may cost one
// load more.
int64_t ComputeFirstThreshold(const ScheduleRequest& request) {
  int64_t cost = 0;
  for (const PlannedCell& cell : request.cells) {
    for (int value : cell.values) {
      cost += request.values[static_cast<size_t>(value)].load_cost;
    }
  }
  return cost / static_cast<int64_t>(std::max<size_t>(1, CountUses(request)));
}

}  // namespace

bool MayImproveOrder(const ScheduleRequest& request) {
  return request.cells.size() >= kFewestCells &&
         request.cells.size() <= kMostCells;
}

std::vector<int> ImproveOrder(const ScheduleRequest& request,
                              int64_t budget_bytes, int64_t least_load_cost,
                              const std::vector<int>& order) {
  const auto move_count = static_cast<int64_t>(CountMoves(request));
  const int64_t first_threshold = ComputeFirstThreshold(request);
  std::vector<int> best = order;
  Cost lowest = ComputeCost(request, order, budget_bytes);
  std::vector<int> present = best;
  Cost present_cost = lowest;
  std::vector<int> tried;
  RandomMove move;
  for (int64_t i = 0; i < move_count && lowest.first > least_load_cost; ++i) {
    tried = present;
    move.Apply(&tried);
    const Cost cost = ComputeCost(request, tried, budget_bytes);
    const double left =
        1 - static_cast<double>(i) / static_cast<double>(move_count);
    const double threshold = static_cast<double>(first_threshold) * left;
    if (static_cast<double>(cost.first - present_cost.first) > threshold) {
      continue;
    }
    present.swap(tried);
    present_cost = cost;
    if (cost >= lowest) continue;
    best = present;
    lowest = cost;
  }
  return best;
}

}  // namespace footprint::memo_internal
