// Chooses which allocations are samples: those that contain a point of a
// Poisson process along the thread's allocated bytes.
//
//   BeginSampling(/*interval_bytes=*/524288);
//   ...
//   if (IsSample(counters)) {
//     ...
//     ScheduleNextSample(&counters);
//   }
//
// The points are the same in each run of a program whose threads begin in the
// same order and allocate the same. Thread-safe: each thread passes its own
// counters, which hold all of its state. Allocates nothing.

#ifndef FOOTPRINT_PROFILING_HEAP_SAMPLE_SCHEDULE_H_
#define FOOTPRINT_PROFILING_HEAP_SAMPLE_SCHEDULE_H_

#include <cstdint>

#include "footprint/profiling/heap/process_counters.h"

namespace footprint::profiling_internal {

// Starts sampling. `interval_bytes` is the mean distance of two points. 0 makes
// every allocation a sample, and -1 stops sampling.
void BeginSampling(int64_t interval_bytes);

// Sets whether any sampled block is live. While none is, a free need not look
// its block up. Call it before the first such block is returned, and after the
// last one was freed. Only one thread may call it at a time.
void SetHasRecordedBlocks(bool has_recorded_blocks);

// Returns whether the allocation that was counted last is a sample.
inline bool IsSample(const ThreadCounters& counters) {
  return __atomic_load_n(counters.allocated_bytes, __ATOMIC_RELAXED) >=
         counters.sample_at_bytes;
}

// Schedules the first sample of a new thread. A thread is registered after its
// first allocation, which may be the sample.
void ScheduleFirstSample(ThreadCounters* counters);

// Schedules the next sample, counted from the bytes that the thread has
// allocated so far. A Poisson process has no memory, so that start is as good
// as any.
void ScheduleNextSample(ThreadCounters* counters);

}  // namespace footprint::profiling_internal

// Tested by //profiling/sites:call_sites_test.

#endif  // FOOTPRINT_PROFILING_HEAP_SAMPLE_SCHEDULE_H_
