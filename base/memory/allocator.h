// Names the allocator of this process, reads its counters for the calling
// thread and for the process, and purges its free memory.
//
//   footprint::ThreadHeapBytes before = footprint::ReadThreadHeapBytes();
//   std::vector<char> values(1000);
//   footprint::ThreadHeapBytes after = footprint::ReadThreadHeapBytes();
//   uint64_t grown = after.allocated_bytes - before.allocated_bytes;
//
// Bytes are usable bytes: what the allocator hands out, which is at least what
// was asked for. The counters are jemalloc's own, and exact after every call.
// With another allocator all counters are zeros, and `IsJemalloc()` is false.
//
// Thread-safety: any thread may call every function at any time. Memory: none
// is allocated. Time: less than a microsecond, except where noted.

#ifndef FOOTPRINT_BASE_MEMORY_ALLOCATOR_H_
#define FOOTPRINT_BASE_MEMORY_ALLOCATOR_H_

#include <cstddef>
#include <cstdint>

namespace footprint {

// Returns whether jemalloc is linked into this process with its statistics on.
bool IsJemalloc();

// Writes "jemalloc 5.3.0-0-g54ea..." or "unknown" to `name`, shortened to
// `capacity` - 1 characters and terminated. It does not allocate, so it may be
// called while the heap is being measured.
void WriteAllocatorName(char* name, size_t capacity);

// Bytes that one thread has allocated and freed since it began. A freed block
// counts for the thread that frees it, so only the sum over all threads gives
// the live bytes of the process.
struct ThreadHeapBytes {
  uint64_t allocated_bytes = 0;
  uint64_t deallocated_bytes = 0;

  // Returns a negative number for a thread that mostly frees other threads'
  // blocks.
  int64_t live_bytes() const {
    return static_cast<int64_t>(allocated_bytes - deallocated_bytes);
  }
};

// Returns the counters of the calling thread; zeros without jemalloc.
ThreadHeapBytes ReadThreadHeapBytes();

// The places where jemalloc keeps the calling thread's counters, which are
// valid until the thread ends. Both are null without jemalloc.
struct ThreadHeapCounters {
  const uint64_t* allocated_bytes = nullptr;
  const uint64_t* deallocated_bytes = nullptr;
};
ThreadHeapCounters FindThreadHeapCounters();

// The bytes that the process holds according to jemalloc; zeros with another
// allocator. Reading them takes some microseconds.
struct AllocatorBytes {
  int64_t allocated_bytes = 0;  // in blocks that are in use or cached
  int64_t active_bytes = 0;     // in pages that hold such blocks
  int64_t resident_bytes = 0;   // in pages that may take physical memory
  int64_t mapped_bytes = 0;     // in jemalloc's active extents

  int64_t fragmentation_bytes() const { return active_bytes - allocated_bytes; }
};
AllocatorBytes ReadAllocatorBytes();

// Returns the options that jemalloc was built with, an empty text if there are
// none; null without jemalloc.
const char* BuiltInAllocatorOptions();

// Gives the allocator's free memory back to the operating system, except for
// blocks in the caches of other threads. Takes up to 90 ms for 256 MiB freed in
// small blocks, so call it outside timed regions. Returns false if the
// allocator has no such function.
bool PurgeFreeMemory();

}  // namespace footprint

// Tested by allocator_jemalloc_test and allocator_other_test.

#endif  // FOOTPRINT_BASE_MEMORY_ALLOCATOR_H_
