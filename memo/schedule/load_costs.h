// Costs of loads, from the time that each took.
//
//   std::vector<int64_t> times;  // of each value, in nanoseconds
//   const bool plans_by_time = SetLoadCosts(times, &request.values);
//
// Times of one kind of load differ from run to run. Values whose times are
// alike get one cost, so that a plan is not another one after every run, and is
// proved where equal costs prove it.
//
// Thread-safe: no state is kept. Memory: some words a value.

#ifndef FOOTPRINT_MEMO_SCHEDULE_LOAD_COSTS_H_
#define FOOTPRINT_MEMO_SCHEDULE_LOAD_COSTS_H_

#include <cstdint>
#include <vector>

#include "footprint/memo/schedule/schedule.h"

namespace footprint::memo_internal {

// Sets costs in microseconds. Changes nothing and returns false unless every
// time is known: a second and a mere load cannot be added. Times that are less
// than half above the shortest of their group count as its mean, and those
// below a tenth of a millisecond as that.
bool SetLoadCosts(const std::vector<int64_t>& load_nanoseconds,
                  std::vector<PlannedValue>* values);

}  // namespace footprint::memo_internal

#endif  // FOOTPRINT_MEMO_SCHEDULE_LOAD_COSTS_H_
