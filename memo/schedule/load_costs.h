// Computes costs of loads from the time that each load took.
//
//   std::vector<int64_t> times;  // of each value, in nanoseconds
//   const bool plans_by_time = SetLoadCosts(times, &request.values);
//
// Times of similar loads differ from run to run. Values with similar times get
// one cost, so that the plan does not change with every run, and so that proofs
// which need equal costs apply.
//
// Thread-safe, since it keeps no state. Memory: some words per value.

#ifndef FOOTPRINT_MEMO_SCHEDULE_LOAD_COSTS_H_
#define FOOTPRINT_MEMO_SCHEDULE_LOAD_COSTS_H_

#include <cstdint>
#include <vector>

#include "footprint/memo/schedule/schedule.h"

namespace footprint::memo_internal {

// Sets costs in microseconds. Changes nothing and returns false unless every
// time is known, since a time and a cost of 1 cannot be added. Values are
// grouped: times below one and a half of the shortest in a group get the
// group's mean. Times below a tenth of a millisecond count as a tenth of a
// millisecond, and those above a day as a day. There must be one time per
// value.
bool SetLoadCosts(const std::vector<int64_t>& load_nanoseconds,
                  std::vector<PlannedValue>* values);

}  // namespace footprint::memo_internal

#endif  // FOOTPRINT_MEMO_SCHEDULE_LOAD_COSTS_H_
