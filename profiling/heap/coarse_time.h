// Reads a monotonic clock as cheaply as possible, because every allocation of a
// growing heap reads it.
//
//   published->peak_time_ns.store(CoarseTimeNs());
//
// Returns nanoseconds of CLOCK_MONOTONIC as of the kernel's last tick. Ticks
// are 1 to 10 ms apart, depending on the kernel. Thread-safe; works inside
// malloc and in signal handlers.

#ifndef FOOTPRINT_PROFILING_HEAP_COARSE_TIME_H_
#define FOOTPRINT_PROFILING_HEAP_COARSE_TIME_H_

#include <time.h>

#include <cstdint>

namespace footprint::profiling_internal {

inline int64_t CoarseTimeNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return now.tv_sec * int64_t{1000000000} + now.tv_nsec;
}

}  // namespace footprint::profiling_internal

#endif  // FOOTPRINT_PROFILING_HEAP_COARSE_TIME_H_
