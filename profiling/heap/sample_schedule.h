// Chooses the allocations that are samples: those with a point of a Poisson
// process along the thread's allocated bytes.
//
//   BeginSampling(/*interval_bytes=*/524288);
//   ...
//   if (IsSample(counters)) {
//     ...
//     ScheduleNextSample(&counters);
//   }
//
// The points are the same in each run of a program that allocates the same.
// Thread-safe: a thread calls with its own counters, and keeps no state of them
// but in them. Allocates nothing.

#ifndef FOOTPRINT_PROFILING_HEAP_SAMPLE_SCHEDULE_H_
#define FOOTPRINT_PROFILING_HEAP_SAMPLE_SCHEDULE_H_

#include <cstdint>

#include "footprint/profiling/heap/process_counters.h"

namespace footprint::profiling_internal {

// Mean bytes between two points; 0: every allocation is a sample; -1: none is.
void BeginSampling(int64_t interval_bytes);

// Returns whether some block that was sampled is live: while none is, a free
// need not ask. To be called by one thread at a time, before the first such
// block is handed out and after the last was taken back.
void SetHasRecordedBlocks(bool has_recorded_blocks);

// Returns whether the allocation that was counted last is a sample.
inline bool IsSample(const ThreadCounters& counters) {
  return __atomic_load_n(counters.allocated_bytes, __ATOMIC_RELAXED) >=
         counters.sample_at_bytes;
}

// Schedules the first sample of a new thread: its first allocation is
// registered after it was made, and may be the sample.
void ScheduleFirstSample(ThreadCounters* counters);

// Schedules the next sample from what the thread has allocated so far: the
// process has no memory.
void ScheduleNextSample(ThreadCounters* counters);

}  // namespace footprint::profiling_internal

// Tested by //profiling/sites:call_sites_test.

#endif  // FOOTPRINT_PROFILING_HEAP_SAMPLE_SCHEDULE_H_
