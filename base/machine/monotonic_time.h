// The clock of all records: of one machine, since it began, the same in each
// process; and the time for which the calling thread had a processor.
//
//   record->begin_time_ns = MonotonicTimeNs();
//
// Pure but for the clock; thread-safe, also in a signal handler; allocates
// nothing. Time: some 20 ns, and 200 ns for the thread's.

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

// Returns how long the calling thread has run. On a busy machine the clock
// tells of waiting, this does not.
inline int64_t ThreadProcessorTimeNs() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * int64_t{1'000'000'000} + now.tv_nsec;
}

}  // namespace footprint

#endif  // FOOTPRINT_BASE_MACHINE_MONOTONIC_TIME_H_
