// Plans when to load and when to evict each value, so that a run of cells that
// need them loads as little as possible.
//
//   ScheduleRequest request;
//   request.values = {{"small model", 200 << 20}, {"data", 100 << 20}};
//   request.cells = {{"first", {0, 1}}, {"second", {1}}};
//   absl::StatusOr<Schedule> schedule = PlanSchedule(request);
//   // Loads both values, runs "first", evicts the model, runs "second".
//
// A value is kept to its last planned use and not longer. Without a budget each
// value is loaded once. Under a budget a value is kept between two uses where
// that saves most loads; one that is not kept is evicted right after its use.
//
// Where loads need more than their values, some come before an earlier cell
// than the one that needs them (early_loads.h); such a plan is called optimal
// only where it meets the bound of loads that need no more.
//
// Where cells may be reordered under a budget, products are tiled along all
// their axes. A schedule that is not proved optimal has a proved lower bound
// beside it.
//
// Pure and deterministic: equal requests give equal schedules.
// Thread-safe. Memory: linear in the request, and at most some 20 MiB for the
// exact search. Time: n log n in the uses; at most 10 ms for 10,000 cells of
// two values in the given order, a tenth of a second where they may be
// reordered; a request of at most 64 cells may be searched for up to a second.

#ifndef FOOTPRINT_MEMO_SCHEDULE_SCHEDULE_PLANNER_H_
#define FOOTPRINT_MEMO_SCHEDULE_SCHEDULE_PLANNER_H_

#include "absl/status/statusor.h"
#include "footprint/memo/schedule/schedule.h"

namespace footprint {

// InvalidArgument for an index that is none, a negative size or budget, a cost
// below 1, or sums beyond 64 bits; FailedPrecondition, naming them, for values
// of unknown size under a budget; ResourceExhausted, naming the smallest budget
// that can, if a cell does not fit.
absl::StatusOr<Schedule> PlanSchedule(const ScheduleRequest& request);

}  // namespace footprint

#endif  // FOOTPRINT_MEMO_SCHEDULE_SCHEDULE_PLANNER_H_
