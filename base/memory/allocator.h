// Names the allocator that serves this process, and reads its counters for each
// thread.
//
//   footprint::ThreadHeapBytes before = footprint::ReadThreadHeapBytes();
//   std::vector<char> values(1000);
//   footprint::ThreadHeapBytes after = footprint::ReadThreadHeapBytes();
//   uint64_t grown = after.allocated_bytes - before.allocated_bytes;
//
// Bytes are usable bytes: what the allocator hands out, at least what was asked
// for. The counters are jemalloc's own and exact after every call. With another
// allocator each function answers honestly that it cannot know: zeros, and
// `IsJemalloc()` is false.
//
// Thread-safety: every function may be called from any thread at any time.
// Memory: none is allocated. Time: a few nanoseconds, except where noted.

#ifndef FOOTPRINT_BASE_MEMORY_ALLOCATOR_H_
#define FOOTPRINT_BASE_MEMORY_ALLOCATOR_H_

#include <cstddef>
#include <cstdint>

namespace footprint {

// Returns whether jemalloc is linked into this process with its statistics on.
bool IsJemalloc();

// Writes "jemalloc 5.3.0-0-g54ea..." or "unknown" to `name`, shortened to
// `capacity` - 1 characters and terminated. No allocation, so it may be called
// while the heap is being measured.
void WriteAllocatorName(char* name, size_t capacity);

// Bytes that one thread has allocated and freed since it began. A block freed
// by another thread than the one that allocated it counts for the freeing
// thread, so only the sum over all threads tells the live bytes of the process.
struct ThreadHeapBytes {
  uint64_t allocated_bytes = 0;
  uint64_t deallocated_bytes = 0;

  // Negative for a thread that mostly frees what others allocated.
  int64_t live_bytes() const {
    return static_cast<int64_t>(allocated_bytes - deallocated_bytes);
  }
};

// The counters of the calling thread; zeros without jemalloc.
ThreadHeapBytes ReadThreadHeapBytes();

// The places where jemalloc keeps the calling thread's counters. The addresses
// stay valid until the thread ends. Both are null without jemalloc.
struct ThreadHeapCounters {
  const uint64_t* allocated_bytes = nullptr;
  const uint64_t* deallocated_bytes = nullptr;
};
ThreadHeapCounters FindThreadHeapCounters();

// jemalloc's view of what the process holds; zeros with another allocator.
// Takes some microseconds.
struct AllocatorBytes {
  int64_t allocated_bytes = 0;  // in blocks that are handed out or cached
  int64_t active_bytes = 0;     // in pages that hold such blocks
  int64_t resident_bytes = 0;
  int64_t mapped_bytes = 0;

  int64_t fragmentation_bytes() const { return active_bytes - allocated_bytes; }
};
AllocatorBytes ReadAllocatorBytes();

// The options that jemalloc was built with; null if none, or without jemalloc.
const char* BuiltInAllocatorOptions();

// Returns what is free inside the allocator to the operating system. Takes up
// to 90 ms for 256 MiB freed in small blocks: call it outside timed regions.
// False if this allocator offers no such call.
bool PurgeFreeMemory();

}  // namespace footprint

// Tested by allocator_jemalloc_test and allocator_other_test.

#endif  // FOOTPRINT_BASE_MEMORY_ALLOCATOR_H_
