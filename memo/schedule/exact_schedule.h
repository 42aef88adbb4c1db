// The schedule of lowest load cost by search; a part of schedule_planner.h.
//
//   const ExactSearchResult found = SearchExactly(request, 2, known);
//   if (found.better.has_value()) schedule = *found.better;
//
// Layer by layer, a state for each set of cells that have run and each set of
// values that are kept; states that cannot beat the schedule already known are
// dropped.
//
// Pure, thread-safe: schedules hold indices of the request, no references.
// Memory and time: a search stops where it would look at more than 200,000
// steps from state to state.

#ifndef FOOTPRINT_MEMO_SCHEDULE_EXACT_SCHEDULE_H_
#define FOOTPRINT_MEMO_SCHEDULE_EXACT_SCHEDULE_H_

#include <cstdint>

#include "absl/types/optional.h"
#include "footprint/memo/schedule/schedule.h"

namespace footprint::memo_internal {

struct ExactSearchResult {
  // The search ended by itself; it stops early where it is too large.
  bool is_complete = false;
  // The order of cells and what is kept after each; absent if nothing is better
  // than `known`.
  absl::optional<Schedule> better;
};

// Looks for a lower load cost than `known` has; at equal cost, where cells may
// be reordered, for a lower peak.
ExactSearchResult SearchExactly(const ScheduleRequest& request,
                                int64_t budget_bytes, const Schedule& known);

}  // namespace footprint::memo_internal

#endif  // FOOTPRINT_MEMO_SCHEDULE_EXACT_SCHEDULE_H_
