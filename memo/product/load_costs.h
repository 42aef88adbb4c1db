// What loads cost, by the time that they took.
//
//   std::vector<int64_t> times;  // of each value, by LoadNanosecondsOf
//   const bool plans_by_time = SetLoadCosts(times, &request.values);
//
// Times of one kind of load differ from run to run. Values whose times are
// alike get one cost, so that a plan is not another one after every run, and is
// proved where equal costs prove it.
//
// Thread-safe: no state is kept. Memory: some words a value.

#ifndef FOOTPRINT_MEMO_PRODUCT_LOAD_COSTS_H_
#define FOOTPRINT_MEMO_PRODUCT_LOAD_COSTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "footprint/memo/memo_core.h"
#include "footprint/memo/schedule/memo_trace_file.h"
#include "footprint/memo/schedule/schedule.h"

namespace footprint::memo_internal {

// By an earlier run, or else by the loads of this process; 0 if nobody knows.
int64_t LoadNanosecondsOf(const MemoStatistics& statistics,
                          const std::map<std::string, LoadedSize>& known_sizes);

// Sets costs in microseconds. Changes nothing and returns false unless every
// time is known: a second and a mere load cannot be added. Times that are less
// than half above the shortest of their group count as its mean, and those
// below a tenth of a millisecond as that.
bool SetLoadCosts(const std::vector<int64_t>& load_nanoseconds,
                  std::vector<PlannedValue>* values);

}  // namespace footprint::memo_internal

#endif  // FOOTPRINT_MEMO_PRODUCT_LOAD_COSTS_H_
