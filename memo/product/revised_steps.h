// A new plan for what is left of a run, once values are known to take more than
// the first plan thought.
//
//   RevisedSteps revised = ReviseSteps(request, schedule, 3);
//   // revised.steps take the place of schedule.steps[3] and those behind it.
//
// Pure function, thread-safe; the result owns what it names. Memory: the cells
// that are left. Time: as PlanSchedule.

#ifndef FOOTPRINT_MEMO_PRODUCT_REVISED_STEPS_H_
#define FOOTPRINT_MEMO_PRODUCT_REVISED_STEPS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "absl/status/status.h"
#include "footprint/memo/schedule/schedule.h"

namespace footprint::memo_internal {

struct RevisedSteps {
  // The errors of PlanSchedule; if there is one, nothing else is set.
  absl::Status status;
  // Cells in `refused` stand first, without loads, then the others.
  std::vector<ScheduledStep> steps;
  // ResourceExhausted, by index: cells whose values exceed the budget.
  std::map<int, absl::Status> refused;
  std::vector<PlannedCell> cells;  // that run
  int64_t load_count = 0;
  int64_t peak_bytes = 0;
};

// The steps of `schedule` from `first` on, planned for the sizes that `request`
// has by now, and a budget. Values that are there by then are taken for absent:
// loading one that is loaded costs nothing.
RevisedSteps ReviseSteps(const ScheduleRequest& request,
                         const Schedule& schedule, size_t first);

}  // namespace footprint::memo_internal

#endif  // FOOTPRINT_MEMO_PRODUCT_REVISED_STEPS_H_
