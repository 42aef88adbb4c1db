// Registers a thread's own counters when it begins, and gives them up when it
// ends.
//
//   RegisterThread();  // in the thread's first call, or before
//
// A thread owns its counters. pthread calls a function that gives them up at
// the thread's end, and a fork's child gives up those of the other threads.
// Calls by destructors that run later are added to the counters of ended
// threads.
//
// Thread-safety: any thread may call; CountAfterEnd needs ProcessLock.

#ifndef FOOTPRINT_PROFILING_HEAP_THREAD_REGISTRATION_H_
#define FOOTPRINT_PROFILING_HEAP_THREAD_REGISTRATION_H_

#include <cstdint>

#include "footprint/base/memory/allocator.h"
#include "footprint/profiling/heap/process_counters.h"

namespace footprint::profiling_internal {

// Returns the calling thread's counters if the entry points count by
// themselves. Weak: null if jemalloc counts.
__attribute__((weak)) ThreadHeapCounters FindCountersOfEntryPoints();

// Finds the allocator's counters of the calling thread, which need not be
// registered. Returns false if the thread has no counters yet.
bool FindAllocatorsCounters();

// Registers the calling thread. Does nothing if it is registered or has ended,
// or if the allocator has no counters for it yet.
void RegisterThread();

// Counts a call by a destructor of a thread that has ended. The change since
// the last such call is added to the counters of ended threads.
void CountAfterEnd(ThreadCounters* counters, bool is_allocation)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock);

}  // namespace footprint::profiling_internal

#endif  // FOOTPRINT_PROFILING_HEAP_THREAD_REGISTRATION_H_
