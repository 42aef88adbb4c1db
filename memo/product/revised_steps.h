// Makes a new plan for the rest of a run, after values took more than the first
// plan expected.
//
//   RevisedSteps revised = ReviseSteps(request, schedule, 3);
// revised.steps replace schedule.steps[3] and those after it.
//
// A pure function, thread-safe; the result owns its names. Memory: the
// remaining cells. Time: that of PlanSchedule.

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
  // Cells in `refused` come first, without loads, then the others.
  std::vector<ScheduledStep> steps;
  // Cells whose values exceed the budget, by index, with ResourceExhausted.
  std::map<int, absl::Status> refused;
  std::vector<PlannedCell> cells;  // the cells that run
  int64_t load_count = 0;
  int64_t peak_bytes = 0;
};

// Plans the steps of `schedule` from `first` on with the current sizes of
// `request`, which must have a budget. Values that are already loaded are
// planned as if they were not, since loading a loaded value costs nothing.
RevisedSteps ReviseSteps(const ScheduleRequest& request,
                         const Schedule& schedule, size_t first);

}  // namespace footprint::memo_internal

#endif  // FOOTPRINT_MEMO_PRODUCT_REVISED_STEPS_H_
