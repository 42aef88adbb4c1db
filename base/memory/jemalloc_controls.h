// Flushes the thread's cache and reads the counters of jemalloc that a load
// meter needs in addition to those of //base/memory:allocator.
//
//   FlushThreadCache();
//   const int64_t before_bytes = ReadAllocatorBytes().allocated_bytes;
//
// Thread-safe. With another allocator the functions do nothing and return zero.
// Memory: none. Time: some nanoseconds, except where noted.

#ifndef FOOTPRINT_BASE_MEMORY_JEMALLOC_CONTROLS_H_
#define FOOTPRINT_BASE_MEMORY_JEMALLOC_CONTROLS_H_

#include <cstdint>

namespace footprint::memo_internal {

// Returns the calling thread's cached free blocks to jemalloc, which counts
// them as allocated while the thread keeps them. Takes microseconds.
void FlushThreadCache();

// Returns the bytes of addresses that jemalloc keeps for later use. They change
// only when ReadAllocatorBytes (//base/memory:allocator) is called.
int64_t ReadRetainedBytes();

// Returns the most bytes that the thread has had since ResetThreadHeapPeak,
// beyond those that it had then. The result may be wrong by up to 64 KiB.
int64_t ReadThreadHeapPeakBytes();
// Begins a new peak of the calling thread.
void ResetThreadHeapPeak();

}  // namespace footprint::memo_internal

#endif  // FOOTPRINT_BASE_MEMORY_JEMALLOC_CONTROLS_H_
