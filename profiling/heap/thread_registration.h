// Registers a thread's own counters when it begins, and gives them up when it
// ends.
//
//   RegisterThread();  // in the thread's first call, or before
//
// A thread owns its counters. They are given up by pthread at its end, and in
// the child of a fork. Calls of its last destructors afterwards go to the
// counters of those that ended.
//
// Thread-safety: any thread may call; CountAfterEnd needs ProcessLock.

#ifndef FOOTPRINT_PROFILING_HEAP_THREAD_REGISTRATION_H_
#define FOOTPRINT_PROFILING_HEAP_THREAD_REGISTRATION_H_

#include <cstdint>

#include "footprint/base/memory/allocator.h"
#include "footprint/profiling/heap/process_counters.h"

namespace footprint::profiling_internal {

// Returns the calling thread's counters of entry points that count by
// themselves. Weak: null where jemalloc counts.
__attribute__((weak)) ThreadHeapCounters FindCountersOfEntryPoints();

// Finds the allocator's counters of the calling thread, which may not be
// registered yet. False: it has none so far.
bool FindAllocatorsCounters();

// Nothing if the calling thread is registered or has ended.
void RegisterThread();

// A call of a thread that has ended: the last destructors. The change since
// the last such call goes to the counters of those that ended.
void CountAfterEnd(ThreadCounters* counters, bool is_allocation)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock);

}  // namespace footprint::profiling_internal

#endif  // FOOTPRINT_PROFILING_HEAP_THREAD_REGISTRATION_H_
