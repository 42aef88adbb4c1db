// The address ranges of a process that a reader outside can see at any moment:
// what the program has mapped by itself, and the agent's own tables, which are
// not the program's memory. Beside them stands how much of the heap was live
// when that was last told.
//
//   PublishedMappings* published = ...;  // in memory shared with the reader
//   PublishMappings(published);
//
// Plain memory: no pointer, no destructor. The caller owns it; it must stay
// mapped until PublishMappings is called with another, or null. A reader takes
// `generation` before and after it reads: if it is odd or has changed, it reads
// again. Live bytes and the agent's ranges are stored one by one, without it.

#ifndef FOOTPRINT_PROFILING_HEAP_PUBLISHED_MAPPINGS_H_
#define FOOTPRINT_PROFILING_HEAP_PUBLISHED_MAPPINGS_H_

#include <atomic>
#include <cstdint>

namespace footprint::profiling_internal {

inline constexpr uint32_t kMaxProgramRanges = 4000;
// The agent has some tables, each of which doubles: a table that was replaced
// is given back or stays, so that there are a few dozen.
inline constexpr uint32_t kMaxAgentRanges = 256;

struct PublishedMappings {
  uint64_t magic;
  std::atomic<uint32_t> generation;
  uint32_t range_count;
  // There are more ranges than have room.
  uint32_t is_cut;
  uint32_t padding;
  // Live bytes of the heap. 0: never told.
  std::atomic<int64_t> live_bytes;
  struct Range {
    uint64_t begin;
    uint64_t end;
  } ranges[kMaxProgramRanges];
  // A range of the agent's, in any order; where `begin` is 0, there is none.
  struct AgentRange {
    std::atomic<uint64_t> begin;
    std::atomic<uint64_t> end;
  } agent_ranges[kMaxAgentRanges];
};
inline constexpr uint64_t kMappingsMagic = 0x33306d61'70616d66;

// Keeps `published` up to date from now on; null: nobody reads. What the
// program has mapped so far is told by TellProgramMappings. Takes no memory
// from the heap, and no lock: to be called where no other thread maps.
void PublishMappings(PublishedMappings* published);

// Thread-safe. Time: a store.
void PublishLiveBytes(int64_t live_bytes);

}  // namespace footprint::profiling_internal

#endif  // FOOTPRINT_PROFILING_HEAP_PUBLISHED_MAPPINGS_H_
