#include "footprint/memo/product/revised_steps.h"

#include <algorithm>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/memo/schedule/early_loads.h"
#include "footprint/memo/schedule/schedule_planner.h"

namespace footprint::memo_internal {
namespace {

PlannedCell WithoutRepeats(PlannedCell cell) {
  std::sort(cell.values.begin(), cell.values.end());
  cell.values.erase(std::unique(cell.values.begin(), cell.values.end()),
                    cell.values.end());
  return cell;
}

// A request for some of the cells. Its values have their own numbers.
class PartOfRequest {
 public:
  PartOfRequest(const ScheduleRequest& whole, const std::vector<int>& cells) {
    part_.budget_bytes = whole.budget_bytes;
    part_.may_reorder = whole.may_reorder;
    std::map<int, int> numbers;
    for (const int cell : cells) {
      PlannedCell copy = whole.cells[static_cast<size_t>(cell)];
      for (int& value : copy.values) {
        const auto [entry, is_new] =
            numbers.try_emplace(value, static_cast<int>(values_.size()));
        if (is_new) {
          values_.push_back(value);
          part_.values.push_back(whole.values[static_cast<size_t>(value)]);
        }
        value = entry->second;
      }
      part_.cells.push_back(std::move(copy));
    }
  }

  const ScheduleRequest& request() const { return part_; }
  // Replaces the part's numbers of values by those of the whole request.
  void Translate(std::vector<int>* values) const {
    for (int& value : *values) value = values_[static_cast<size_t>(value)];
  }

 private:
  ScheduleRequest part_;
  std::vector<int> values_;
};

}  // namespace

RevisedSteps ReviseSteps(const ScheduleRequest& request,
                         const Schedule& schedule, size_t first) {
  RevisedSteps revised;
  const int64_t budget_bytes = *request.budget_bytes;
  // Refuses the cells that no longer fit, and collects the others.
  std::vector<int> cells;
  for (size_t i = first; i < schedule.steps.size(); ++i) {
    const int index = schedule.steps[i].cell;
    const PlannedCell& cell = request.cells[static_cast<size_t>(index)];
    const int64_t bytes = CellBytes(request, WithoutRepeats(cell));
    if (bytes <= budget_bytes) {
      cells.push_back(index);
      revised.cells.push_back(cell);
      continue;
    }
    revised.refused[index] = absl::ResourceExhaustedError(
        absl::StrCat("its values take ", FormatBytes(bytes),
                     " to load, more than the budget of ",
                     FormatBytes(budget_bytes), "; raise --memo_budget="));
    revised.steps.push_back({index, {}, {}});
  }
  if (cells.empty()) return revised;
  // Plans the others, and restores their numbers.
  const PartOfRequest part(request, cells);
  const absl::StatusOr<Schedule> planned = PlanSchedule(part.request());
  if (!planned.ok()) {
    RevisedSteps failed;
    failed.status = planned.status();
    return failed;
  }
  revised.load_count = planned->load_count;
  revised.peak_bytes = planned->peak_bytes;
  for (ScheduledStep step : planned->steps) {
    step.cell = cells[static_cast<size_t>(step.cell)];
    part.Translate(&step.loads);
    part.Translate(&step.evictions);
    revised.steps.push_back(std::move(step));
  }
  return revised;
}

}  // namespace footprint::memo_internal
