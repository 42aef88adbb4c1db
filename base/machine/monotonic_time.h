// The clock of all records: of one machine, since it began, the same in each
// process.
//
//   record->begin_time_ns = MonotonicTimeNs();
//
// Pure but for the clock; thread-safe, also in a signal handler; allocates
// nothing. Time: some 20 ns.

#ifndef FOOTPRINT_BASE_MACHINE_MONOTONIC_TIME_H_
#define FOOTPRINT_BASE_MACHINE_MONOTONIC_TIME_H_

#include <time.h>

#include <cstdint>

namespace footprint {

inline int64_t MonotonicTimeNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * int64_t{1'000'000'000} + now.tv_nsec;
}

}  // namespace footprint

#endif  // FOOTPRINT_BASE_MACHINE_MONOTONIC_TIME_H_
