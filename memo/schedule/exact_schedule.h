// Searches for the schedule of lowest load cost; a part of schedule_planner.h.
//
//   const ExactSearchResult found = SearchExactly(request, 2, known);
//   if (found.better.has_value()) schedule = *found.better;
//
// The search goes layer by layer. A state is a set of cells that have run and a
// set of values that are kept; states that cannot be better than the known
// schedule are dropped.
//
// Pure and thread-safe: schedules hold indices of the request, no references.
// Memory and time: a search stops after 200,000 transitions from state to
// state.

#ifndef FOOTPRINT_MEMO_SCHEDULE_EXACT_SCHEDULE_H_
#define FOOTPRINT_MEMO_SCHEDULE_EXACT_SCHEDULE_H_

#include <cstdint>

#include "absl/types/optional.h"
#include "footprint/memo/schedule/schedule.h"

namespace footprint::memo_internal {

struct ExactSearchResult {
  // True if the search finished; it stops early if it is too large.
  bool is_complete = false;
  // The order of cells and the values that are kept after each; absent if no
  // schedule is better than `known`, or if the search did not finish.
  absl::optional<Schedule> better;
};

// Searches for a lower load cost than that of `known`. If cells may be
// reordered, also searches for a lower peak at equal cost. Does not search if
// there are more than 64 values, more than 64 cells, or more than 16 cells that
// may be reordered; the result is then not complete.
ExactSearchResult SearchExactly(const ScheduleRequest& request,
                                int64_t budget_bytes, const Schedule& known);

}  // namespace footprint::memo_internal

#endif  // FOOTPRINT_MEMO_SCHEDULE_EXACT_SCHEDULE_H_
