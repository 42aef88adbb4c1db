// Reads the clock that all records use, and the processor time of the calling
// thread.
//
//   record->begin_time_ns = MonotonicTimeNs();
//
// Pure apart from the clock; thread-safe, also in a signal handler; allocates
// nothing. Time: some 20 ns, and 200 ns for the thread's time.

#ifndef FOOTPRINT_BASE_MACHINE_MONOTONIC_TIME_H_
#define FOOTPRINT_BASE_MACHINE_MONOTONIC_TIME_H_

#include <time.h>

#include <cstdint>

namespace footprint {

// Returns the nanoseconds since the machine started, without times of
// suspension. The clock is the same in each process of a machine.
inline int64_t MonotonicTimeNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * int64_t{1'000'000'000} + now.tv_nsec;
}

// Returns how many nanoseconds the calling thread has run. Time in which it
// waits, for example for a processor on a busy machine, does not count.
inline int64_t ThreadProcessorTimeNs() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * int64_t{1'000'000'000} + now.tv_nsec;
}

}  // namespace footprint

#endif  // FOOTPRINT_BASE_MACHINE_MONOTONIC_TIME_H_
