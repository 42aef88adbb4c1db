#include "footprint/memo/schedule/early_loads.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "footprint/memo/schedule/belady_schedule.h"

namespace footprint::memo_internal {
namespace {

// A load is tried at most this many cells before the one that needs it.
constexpr size_t kMostCellsEarlier = 16;
// The limit of uses for all tries together.
constexpr size_t kMostUses = 2'000'000;

bool Contains(const std::vector<int>& values, int value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

// Tries to move loads to earlier cells.
class Tries {
 public:
  Tries(const ScheduleRequest& request, int64_t budget_bytes, Schedule known)
      : request_(request),
        budget_bytes_(budget_bytes),
        best_(std::move(known)) {
    for (const ScheduledStep& step : best_.steps) order_.push_back(step.cell);
    for (const PlannedCell& cell : request.cells) {
      use_count_ += cell.values.size();
    }
  }

  // Repeats until no load becomes better by being earlier.
  Schedule Run() {
    for (bool is_better = true; is_better;) {
      is_better = false;
      for (size_t step = 1; step < order_.size(); ++step) {
        const std::vector<int> loads = best_.steps[step].loads;
        for (const int value : loads) {
          if (ValueAt(value).passing_bytes() > 0) {
            is_better |= MoveBack(value, step);
          }
        }
      }
    }
    return std::move(best_);
  }

 private:
  const PlannedValue& ValueAt(int value) const {
    return request_.values[static_cast<size_t>(value)];
  }
  PlannedCell& CellAt(size_t step) {
    return request_.cells[static_cast<size_t>(order_[step])];
  }

  // Moves the load to the first place before `step` at which it saves cost,
  // going backwards. Returns whether there is one.
  bool MoveBack(int value, size_t step) {
    std::vector<size_t> added;
    for (size_t at = step; at-- > 0 && step - at <= kMostCellsEarlier;) {
      if (Contains(CellAt(at).values, value)) break;
      CellAt(at).values.push_back(value);
      added.push_back(at);
      if (CellBytes(request_, CellAt(at)) > budget_bytes_ || !HasTime()) break;
      Schedule tried = ScheduleByBelady(request_, order_, budget_bytes_);
      if (tried.load_cost < best_.load_cost) {
        best_ = std::move(tried);
        return true;
      }
    }
    for (const size_t at : added) CellAt(at).values.pop_back();
    return false;
  }

  bool HasTime() {
    tried_use_count_ += use_count_;
    return tried_use_count_ <= kMostUses;
  }

  ScheduleRequest request_;
  const int64_t budget_bytes_;
  Schedule best_;
  std::vector<int> order_;
  size_t use_count_ = 1;
  size_t tried_use_count_ = 0;
};

}  // namespace

bool HasPassingBytes(const ScheduleRequest& request) {
  for (const PlannedCell& cell : request.cells) {
    for (const int value : cell.values) {
      if (request.values[static_cast<size_t>(value)].passing_bytes() > 0) {
        return true;
      }
    }
  }
  return false;
}

ScheduleRequest WithoutPassingBytes(ScheduleRequest request) {
  for (PlannedValue& value : request.values) value.load_peak_bytes = 0;
  return request;
}

int64_t CellBytes(const ScheduleRequest& request, const PlannedCell& cell) {
  int64_t bytes = 0;
  for (const int value : cell.values) {
    bytes += request.values[static_cast<size_t>(value)].bytes;
  }
  std::vector<int> loads = cell.values;
  SortLoads(request, &loads);
  return bytes + PassingBytes(request, loads);
}

Schedule LoadEarlier(const ScheduleRequest& request, int64_t budget_bytes,
                     Schedule schedule) {
  return Tries(request, budget_bytes, std::move(schedule)).Run();
}

}  // namespace footprint::memo_internal
