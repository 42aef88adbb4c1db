#include "footprint/memo/schedule/schedule_planner.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "footprint/memo/schedule/belady_schedule.h"
#include "footprint/memo/schedule/cell_orders.h"
#include "footprint/memo/schedule/early_loads.h"
#include "footprint/memo/schedule/exact_schedule.h"
#include "footprint/memo/schedule/improved_order.h"
#include "footprint/memo/schedule/load_bound.h"
#include "footprint/memo/schedule/tiled_orders.h"

namespace footprint {
namespace {

using memo_internal::CellBytes;
using memo_internal::kNoBudget;

// The most orders to try for a group of cells; fewer if there are many uses.
constexpr size_t kMostTiledOrders = 16;
constexpr size_t kMostTriedUses = 600'000;

absl::Status CheckValues(const ScheduleRequest& request) {
  int64_t total_bytes = 0;
  for (const PlannedValue& value : request.values) {
    if (value.bytes < 0 || value.load_cost < 1 || value.load_peak_bytes < 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "value \"", value.name, "\": ", value.bytes, " bytes at load cost ",
          value.load_cost, ", ", value.load_peak_bytes,
          " bytes to load; bytes are at least 0 and a cost at least 1"));
    }
    if (__builtin_add_overflow(total_bytes,
                               std::max(value.bytes, value.load_peak_bytes),
                               &total_bytes)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "value \"", value.name,
          "\": the sizes up to here add up to more than 64 bits hold"));
    }
  }
  if (request.budget_bytes.has_value() && *request.budget_bytes < 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the budget is ", *request.budget_bytes, " bytes; it is at least 0"));
  }
  return absl::OkStatus();
}

absl::Status CheckCells(const ScheduleRequest& request) {
  int64_t total_cost = 0;
  for (const PlannedCell& cell : request.cells) {
    for (int value : cell.values) {
      if (value < 0 || static_cast<size_t>(value) >= request.values.size()) {
        return absl::InvalidArgumentError(
            absl::StrCat("cell \"", cell.name, "\" needs value ", value, " of ",
                         request.values.size()));
      }
      if (__builtin_add_overflow(
              total_cost, request.values[static_cast<size_t>(value)].load_cost,
              &total_cost)) {
        return absl::InvalidArgumentError(absl::StrCat(
            "cell \"", cell.name,
            "\": the load costs up to here are more than 64 bits hold"));
      }
    }
  }
  return absl::OkStatus();
}

// Returns FailedPrecondition if there is a budget and a size is unknown.
absl::Status CheckSizesKnown(const ScheduleRequest& request) {
  std::vector<std::string> unknown;
  for (const PlannedValue& value : request.values) {
    if (value.source == SizeSource::kUnknown) unknown.push_back(value.name);
  }
  if (unknown.empty() || !request.budget_bytes.has_value()) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      absl::StrCat("a budget needs every size; declare those of: ",
                   absl::StrJoin(unknown, ", ")));
}

// Returns the request with no value named twice in a cell.
ScheduleRequest WithoutRepeats(const ScheduleRequest& request) {
  ScheduleRequest result = request;
  std::vector<int> seen_in(request.values.size(), -1);
  int index = 0;
  for (PlannedCell& cell : result.cells) {
    const auto is_repeat = [&](int value) {
      return std::exchange(seen_in[static_cast<size_t>(value)], index) == index;
    };
    cell.values.erase(
        std::remove_if(cell.values.begin(), cell.values.end(), is_repeat),
        cell.values.end());
    ++index;
  }
  return result;
}

bool AreOfEqualSizes(const ScheduleRequest& request) {
  const PlannedValue* first = nullptr;
  for (const PlannedCell& cell : request.cells) {
    for (int index : cell.values) {
      const PlannedValue& value = request.values[static_cast<size_t>(index)];
      if (first == nullptr) first = &value;
      if (value.bytes != first->bytes || value.load_cost != first->load_cost) {
        return false;
      }
      if (value.passing_bytes() != 0) return false;
    }
  }
  return true;
}

std::vector<int> GivenOrder(size_t cell_count) {
  std::vector<int> order(cell_count);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

// The load cost and the peak. Tried schedules are not kept, since a schedule of
// many cells takes as much memory as its request.
using Cost = std::pair<int64_t, int64_t>;

Cost ComputeCost(const ScheduleRequest& request, const std::vector<int>& order,
                 int64_t budget_bytes) {
  const Schedule schedule =
      memo_internal::ScheduleByBelady(request, order, budget_bytes);
  return {schedule.load_cost, schedule.peak_bytes};
}

// Returns the best of several tiled orders of one group's cells, which run
// without the others.
std::vector<int> BestTiledOrder(const ScheduleRequest& request,
                                const std::vector<int>& cells,
                                int64_t budget_bytes) {
  size_t use_count = 1;
  for (int cell : cells) {
    use_count += request.cells[static_cast<size_t>(cell)].values.size();
  }
  const size_t most_orders = std::min(
      kMostTiledOrders, std::max<size_t>(1, kMostTriedUses / use_count));
  std::vector<int> best;
  Cost lowest;
  memo_internal::ForEachTiledOrder(request, cells, budget_bytes, most_orders,
                                   [&](const std::vector<int>& order) {
                                     const Cost cost = ComputeCost(
                                         request, order, budget_bytes);
                                     if (!best.empty() && cost >= lowest)
                                       return;
                                     best = order;
                                     lowest = cost;
                                   });
  return best;
}

// Returns an order of all cells, group after group.
std::vector<int> TiledOrder(const ScheduleRequest& request,
                            int64_t budget_bytes) {
  std::vector<int> tiled;
  for (const std::vector<int>& group :
       memo_internal::GroupsOfOneArity(request)) {
    const std::vector<int> order = BestTiledOrder(request, group, budget_bytes);
    tiled.insert(tiled.end(), order.begin(), order.end());
  }
  return tiled;
}

// Returns a lower bound for the cost of every schedule that loads values right
// before the cells that use them.
int64_t LeastCostOfLateLoads(const ScheduleRequest& request,
                             int64_t budget_bytes) {
  return request.may_reorder
             ? memo_internal::LeastCostInAnyOrder(request, budget_bytes)
             : memo_internal::LeastCostInOrder(request, budget_bytes);
}

// Returns a lower bound for the cost of every schedule. An early load can save
// other loads only if a load needs more bytes than its value keeps (passing
// bytes), so the bound ignores those.
int64_t LeastLoadCost(const ScheduleRequest& request, int64_t budget_bytes) {
  return memo_internal::HasPassingBytes(request)
             ? LeastCostOfLateLoads(memo_internal::WithoutPassingBytes(request),
                                    budget_bytes)
             : LeastCostOfLateLoads(request, budget_bytes);
}

// Returns the best of a few orders without a search. If the given order is as
// good, returns that one.
Schedule ScheduleBySweeps(const ScheduleRequest& request,
                          int64_t budget_bytes) {
  std::vector<int> best = GivenOrder(request.cells.size());
  if (request.may_reorder) {
    Cost lowest = ComputeCost(request, best, budget_bytes);
    for (const std::vector<int>& order :
         {TiledOrder(request, budget_bytes),
          memo_internal::GreedyOrder(request)}) {
      const Cost cost = ComputeCost(request, order, budget_bytes);
      if (cost >= lowest) continue;
      best = order;
      lowest = cost;
    }
  }
  return memo_internal::ScheduleByBelady(request, best, budget_bytes);
}

// Sets the bound for every schedule's cost, and whether the schedule meets it.
void SetBound(const ScheduleRequest& request, int64_t budget_bytes,
              Schedule* schedule) {
  schedule->least_load_cost = schedule->is_optimal
                                  ? schedule->load_cost
                                  : LeastLoadCost(request, budget_bytes);
  schedule->is_optimal = schedule->load_cost == schedule->least_load_cost;
}

// Replaces the schedule by one whose order is improved step by step, if that
// costs less.
void ImproveSchedule(const ScheduleRequest& request, int64_t budget_bytes,
                     Schedule* schedule) {
  if (!request.may_reorder || !memo_internal::MayImproveOrder(request)) return;
  const int64_t least = LeastLoadCost(request, budget_bytes);
  if (schedule->load_cost <= least) return;
  std::vector<int> order;
  for (const ScheduledStep& step : schedule->steps) order.push_back(step.cell);
  order = memo_internal::ImproveOrder(request, budget_bytes, least, order);
  Schedule improved =
      memo_internal::ScheduleByBelady(request, order, budget_bytes);
  if (improved.load_cost >= schedule->load_cost) return;
  improved.method = ScheduleMethod::kBeladyByBytes;
  *schedule = std::move(improved);
}

Schedule ScheduleBest(const ScheduleRequest& request, int64_t budget_bytes) {
  Schedule schedule = ScheduleBySweeps(request, budget_bytes);
  const bool loads_once =
      schedule.load_cost == memo_internal::CompulsoryCost(request);
  schedule.method = loads_once ? ScheduleMethod::kKeepToLastUse
                               : ScheduleMethod::kBeladyByBytes;
  schedule.is_optimal = loads_once;
  if (loads_once && !request.may_reorder) return schedule;
  if (!request.may_reorder && AreOfEqualSizes(request)) {
    schedule.method = ScheduleMethod::kBeladyOfEqualSizes;
    schedule.is_optimal = true;
    return schedule;
  }
  // Searches, and improves the order if the search is too large.
  memo_internal::ExactSearchResult search =
      memo_internal::SearchExactly(request, budget_bytes, schedule);
  if (search.is_complete && search.better.has_value()) {
    schedule = *std::move(search.better);
  }
  if (!search.is_complete) {
    ImproveSchedule(request, budget_bytes, &schedule);
  }
  // Tries earlier loads if some load takes more than its value.
  const bool may_load_earlier = memo_internal::HasPassingBytes(request);
  if (search.is_complete && !may_load_earlier) {
    schedule.method = ScheduleMethod::kExactSearch;
    schedule.is_optimal = true;
  }
  if (!may_load_earlier) return schedule;
  schedule =
      memo_internal::LoadEarlier(request, budget_bytes, std::move(schedule));
  schedule.method = ScheduleMethod::kBeladyByBytes;
  return schedule;
}

int64_t CountUnknownSizes(const ScheduleRequest& request) {
  return std::count_if(request.values.begin(), request.values.end(),
                       [](const PlannedValue& value) {
                         return value.source == SizeSource::kUnknown;
                       });
}

}  // namespace

absl::StatusOr<Schedule> PlanSchedule(const ScheduleRequest& given) {
  for (const absl::Status& status :
       {CheckValues(given), CheckCells(given), CheckSizesKnown(given)}) {
    if (!status.ok()) return status;
  }
  const ScheduleRequest request = WithoutRepeats(given);
  // Finds the smallest budget that works.
  int64_t smallest_budget_bytes = 0;
  const PlannedCell* largest = nullptr;
  for (const PlannedCell& cell : request.cells) {
    const int64_t bytes = CellBytes(request, cell);
    if (largest == nullptr || bytes > smallest_budget_bytes) largest = &cell;
    smallest_budget_bytes = std::max(smallest_budget_bytes, bytes);
  }
  const int64_t budget_bytes = request.budget_bytes.value_or(kNoBudget);
  if (smallest_budget_bytes > budget_bytes) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "cell \"", largest->name, "\" needs ", smallest_budget_bytes,
        " bytes at once, to load its values included, and the budget is ",
        budget_bytes, "; the smallest budget that works is ",
        smallest_budget_bytes));
  }
  Schedule schedule = ScheduleBest(request, budget_bytes);
  SetBound(request, budget_bytes, &schedule);
  schedule.smallest_budget_bytes = smallest_budget_bytes;
  schedule.unknown_size_count = CountUnknownSizes(request);
  for (size_t i = 0; i < schedule.steps.size(); ++i) {
    schedule.is_reordered |= schedule.steps[i].cell != static_cast<int>(i);
  }
  return schedule;
}

}  // namespace footprint
