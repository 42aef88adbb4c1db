// Plans when to load and when to evict each value, so that a run of cells loads
// as little as possible.
//
//   ScheduleRequest request;
//   request.values = {{"small model", 200 << 20}, {"data", 100 << 20}};
//   request.cells = {{"first", {0, 1}}, {"second", {1}}};
//   absl::StatusOr<Schedule> schedule = PlanSchedule(request);
//   // Loads both values, runs "first", evicts the model, runs "second".
//
// A value is kept to its last planned use and not longer. Without a budget each
// value is loaded once. Under a budget the plan keeps a value between two uses
// if that saves the most loads; other values are evicted right after their use.
//
// If loads need more bytes than their values, the plan may place a load before
// an earlier cell than the one that needs it (early_loads.h). Such a plan is
// called optimal only if it meets the bound for loads that need no more.
//
// If cells may be reordered under a budget, products are tiled along all their
// axes. A schedule that is not proved optimal comes with a proved lower bound.
//
// Pure and deterministic: equal requests give equal schedules. Thread-safe.
// Memory: linear in the request, plus at most some 20 MiB for the exact search.
// Time: n log n in the uses. 10,000 cells of two values take at most 10 ms in
// the given order, and a tenth of a second if they may be reordered. The search
// for a request of at most 64 cells may take up to a second.

#ifndef FOOTPRINT_MEMO_SCHEDULE_SCHEDULE_PLANNER_H_
#define FOOTPRINT_MEMO_SCHEDULE_SCHEDULE_PLANNER_H_

#include "absl/status/statusor.h"
#include "footprint/memo/schedule/schedule.h"

namespace footprint {

// Returns a schedule of the cells. Returns InvalidArgument for an index out of
// range, a negative size or budget, a cost below 1, or sums beyond 64 bits;
// FailedPrecondition, with their names, for values of unknown size under a
// budget; ResourceExhausted, with the smallest budget that works, if a cell
// does not fit.
absl::StatusOr<Schedule> PlanSchedule(const ScheduleRequest& request);

}  // namespace footprint

#endif  // FOOTPRINT_MEMO_SCHEDULE_SCHEDULE_PLANNER_H_
