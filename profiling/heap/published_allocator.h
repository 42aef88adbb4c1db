// State of a process's allocator that a reader outside can see at any moment:
// the address ranges that it has from the kernel, and its books as of the last
// time that more was live than ever before, to some percent. Beside them stand
// the ranges of the agent's own tables, which are not the program's memory.
//
//   PublishedAllocator* published = ...;  // in memory shared with the reader
//   PublishAllocator(published);
//
// Plain memory: no pointer, no destructor. The caller owns it; it must stay
// mapped until PublishAllocator is called with another, or null. A reader takes
// `generation` before and after it reads: if it is odd or has changed, it reads
// again. The agent's ranges are stored one by one, without `generation`.

#ifndef FOOTPRINT_PROFILING_HEAP_PUBLISHED_ALLOCATOR_H_
#define FOOTPRINT_PROFILING_HEAP_PUBLISHED_ALLOCATOR_H_

#include <atomic>
#include <cstdint>

namespace footprint::profiling_internal {

// jemalloc's statistics, in bytes; of CLOCK_MONOTONIC.
struct AllocatorBooks {
  int64_t time_ns;
  // As the counters have it: without what threads keep for their next blocks.
  int64_t live_bytes;
  int64_t allocated_bytes;  // blocks handed out, and those that threads keep
  int64_t thread_cache_bytes;
  int64_t active_bytes;  // pages that hold such a block
  int64_t metadata_bytes;
  int64_t dirty_bytes;  // pages kept for later, not given back yet
};

inline constexpr uint32_t kMaxAllocatorRanges = 4000;
// The agent has some tables, each of which doubles: a table that was replaced
// is given back or stays, so that there are a few dozen.
inline constexpr uint32_t kMaxAgentRanges = 256;

struct PublishedAllocator {
  uint64_t magic;
  std::atomic<uint32_t> generation;
  uint32_t range_count;
  // There are more ranges than have room.
  uint32_t is_cut;
  uint32_t padding;
  AllocatorBooks books;
  struct Range {
    uint64_t begin;
    uint64_t end;
  } ranges[kMaxAllocatorRanges];
  // In any order; where `begin` is 0, there is none.
  struct AgentRange {
    std::atomic<uint64_t> begin;
    std::atomic<uint64_t> end;
  } agent_ranges[kMaxAgentRanges];
};
inline constexpr uint64_t kAllocatorMagic = 0x32306f6c'6c616d66;

// From now on `published` is kept up to date; null: nobody reads. Takes no
// memory from the heap. Thread-safe.
void PublishAllocator(PublishedAllocator* published);

// To be told often; looks only when more is live than at the last look, by a
// fiftieth. Not from inside the allocator. Time of a look: some 20 us.
void ReadAllocatorBooks(int64_t live_bytes, int64_t now_ns);

}  // namespace footprint::profiling_internal

#endif  // FOOTPRINT_PROFILING_HEAP_PUBLISHED_ALLOCATOR_H_
