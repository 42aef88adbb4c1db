// The address ranges of a process that another process can read at any moment:
// what the program mapped by itself, and the agent's own tables, which are not
// the program's memory. It also holds the live bytes of the heap that were
// published last.
//
//   PublishedMappings* published = ...;  // in memory shared with the reader
//   PublishMappings(published);
//
// Plain memory without pointers or a destructor. The caller owns it; it must
// stay mapped until PublishMappings is called with another one, or null. A
// reader reads `generation` before and after the rest and starts again if it is
// odd or has changed. Live bytes and the agent's ranges are stored one by one,
// and `generation` does not cover them. Memory: 67 KiB.

#ifndef FOOTPRINT_PROFILING_HEAP_PUBLISHED_MAPPINGS_H_
#define FOOTPRINT_PROFILING_HEAP_PUBLISHED_MAPPINGS_H_

#include <atomic>
#include <cstdint>

namespace footprint::profiling_internal {

inline constexpr uint32_t kMaxProgramRanges = 4000;
// The agent has a few tables, each of which doubles as it grows. A replaced
// table is unmapped or stays, so there are a few dozen ranges. Ranges beyond
// these are not published.
inline constexpr uint32_t kMaxAgentRanges = 256;

struct PublishedMappings {
  uint64_t magic;
  std::atomic<uint32_t> generation;
  uint32_t range_count;
  // Not zero if there are more ranges than fit.
  uint32_t is_cut;
  uint32_t padding;
  // Live bytes of the heap; 0 if they were never published.
  std::atomic<int64_t> live_bytes;
  struct Range {
    uint64_t begin;
    uint64_t end;
  } ranges[kMaxProgramRanges];
  // A range of the agent's, in any order. An entry whose `begin` is 0 is
  // unused.
  struct AgentRange {
    std::atomic<uint64_t> begin;
    std::atomic<uint64_t> end;
  } agent_ranges[kMaxAgentRanges];
};
inline constexpr uint64_t kMappingsMagic = 0x33306d61'70616d66;

// Keeps `published` up to date from now on; null stops that. Takes no heap
// memory and no lock. Call it when no other thread maps memory, and then
// ReportProgramMappings, which publishes what the program has mapped so far.
void PublishMappings(PublishedMappings* published);

// Publishes the live bytes of the heap. Thread-safe. Time: one store.
void PublishLiveBytes(int64_t live_bytes);

}  // namespace footprint::profiling_internal

#endif  // FOOTPRINT_PROFILING_HEAP_PUBLISHED_MAPPINGS_H_
