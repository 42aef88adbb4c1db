// Requests of a load meter to jemalloc, beside //base/memory:allocator.
//
//   FlushThreadCache();
//   const int64_t before_bytes = ReadAllocatorBytes().allocated_bytes;
//
// Thread-safe. With another allocator nothing happens, and figures are zero.
// Memory: none. Time: some nanoseconds, except where noted.

#ifndef FOOTPRINT_BASE_MEMORY_JEMALLOC_CONTROLS_H_
#define FOOTPRINT_BASE_MEMORY_JEMALLOC_CONTROLS_H_

#include <cstdint>

namespace footprint::memo_internal {

// Gives the calling thread's free blocks back, which jemalloc counts as
// allocated while the thread keeps them. Takes microseconds.
void FlushThreadCache();

// Addresses that jemalloc keeps for later use. Stands still until
// ReadAllocatorBytes (//base/memory:allocator) is called.
int64_t ReadRetainedBytes();

// Most bytes that the calling thread has had since ResetThreadHeapPeak beyond
// what it had then, within 64 KiB.
int64_t ReadThreadHeapPeakBytes();
void ResetThreadHeapPeak();

}  // namespace footprint::memo_internal

#endif  // FOOTPRINT_BASE_MEMORY_JEMALLOC_CONTROLS_H_
