// Counts blocks beside the allocator that returns them: the bytes that a thread
// received and those that it freed. The agent's entry points count malloc's
// blocks this way, and its hooks count Python's small objects.
//
//   CountBlock<SizeOf>(block, SizeOf(block));     // after the allocator's call
//   ForgetBlock<SizeOf>(block, SizeOf(block));    // before it is freed
//   if (!ThreadIsRegistered()) CountFree();       // after it was freed
//
// `SizeOf` returns the bytes of a live block, which must be the same at both
// times. Count each block once, and no null block. Thread-safe, works inside
// malloc and allocates nothing; the blocks' owners keep them. Time: some ten
// instructions, unless a peak or a sample is due.

#ifndef FOOTPRINT_PROFILING_MALLOC_COUNTED_BLOCKS_H_
#define FOOTPRINT_PROFILING_MALLOC_COUNTED_BLOCKS_H_

#include <stdint.h>

#include "footprint/profiling/heap/heap_counters.h"
#include "footprint/profiling/sites/recorded_calls.h"

namespace footprint::profiling_internal {

// The byte counts of a thread. The thread writes them, and others read them
// while they sum.
struct CountedBytes {
  uint64_t allocated = 0;
  uint64_t deallocated = 0;
};
extern __thread CountedBytes counted_bytes __asm__("footprint_counted_bytes")
    __attribute__((tls_model("initial-exec")));

// Adds to a counter that only the calling thread writes.
inline void Raise(uint64_t* counter, uint64_t bytes) {
  __atomic_store_n(counter, *counter + bytes, __ATOMIC_RELAXED);
}

template <SizeOfBlock SizeOf>
__attribute__((noinline)) void LookAtBlock(void* block) {
  RecordSample<SizeOf>(block);
  CheckCountedAllocation();
}

template <SizeOfBlock SizeOf>
inline void CountBlock(void* block, uint64_t bytes) {
  Raise(&counted_bytes.allocated, bytes);
  CountCalls(1);
  if (IsLookDue(counted_bytes.allocated)) LookAtBlock<SizeOf>(block);
}

template <SizeOfBlock SizeOf>
inline void ForgetBlock(void* block, uint64_t bytes) {
  ForgetRecordedBlock<SizeOf>(block);
  Raise(&counted_bytes.deallocated, bytes);
}

}  // namespace footprint::profiling_internal

// Tested by //profiling/python:measured_python_test, too.

#endif  // FOOTPRINT_PROFILING_MALLOC_COUNTED_BLOCKS_H_
