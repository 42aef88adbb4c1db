#include "footprint/profiling/heap/published_mappings.h"

#include <cstddef>

#include "footprint/profiling/heap/mapped_ranges.h"
#include "footprint/profiling/heap/mapping_hooks.h"

namespace footprint::profiling_internal {
namespace {

// It needs no lock: mmap's entry points hold theirs while ranges are written,
// and a fork waits for it.
std::atomic<PublishedMappings*> published{nullptr};

// The agent's ranges are stored here and at `published`, so that the child of a
// fork knows its parent's ranges. It takes no lock, because a signal handler
// may add a range.
PublishedMappings::AgentRange agent_ranges[kMaxAgentRanges];
std::atomic<PublishedMappings::AgentRange*> published_agent_ranges{nullptr};

void PublishAgentRange(uint32_t index) {
  PublishedMappings::AgentRange* const to = published_agent_ranges.load();
  if (to == nullptr) return;
  // A range without its end is empty to a reader.
  to[index].end.store(agent_ranges[index].end.load());
  to[index].begin.store(agent_ranges[index].begin.load());
}

}  // namespace

void ProgramMappingsChanged(const MappedRanges& ranges) {
  PublishedMappings* const to = published.load();
  if (to == nullptr) return;
  to->generation.fetch_add(1);
  const size_t count = ranges.range_count();
  to->is_cut = count > kMaxProgramRanges ? 1 : 0;
  to->range_count =
      to->is_cut != 0 ? kMaxProgramRanges : static_cast<uint32_t>(count);
  for (uint32_t i = 0; i < to->range_count; ++i) {
    const MappedRanges::Range& range = ranges.range(i);
    to->ranges[i] = {range.begin, range.end};
  }
  to->generation.fetch_add(1);
}

void AgentMapped(uintptr_t begin, size_t size_bytes) {
  for (uint32_t i = 0; i < kMaxAgentRanges; ++i) {
    uint64_t none = 0;
    if (!agent_ranges[i].begin.compare_exchange_strong(none, begin)) continue;
    agent_ranges[i].end.store(begin + size_bytes);
    PublishAgentRange(i);
    return;
  }
}

void AgentUnmapped(uintptr_t begin) {
  for (uint32_t i = 0; i < kMaxAgentRanges; ++i) {
    if (agent_ranges[i].begin.load() != begin) continue;
    agent_ranges[i].end.store(0);
    agent_ranges[i].begin.store(0);
    PublishAgentRange(i);
    return;
  }
}

void PublishMappings(PublishedMappings* to) {
  published.store(to);
  published_agent_ranges.store(to == nullptr ? nullptr : to->agent_ranges);
  if (to == nullptr) return;
  for (uint32_t i = 0; i < kMaxAgentRanges; ++i) PublishAgentRange(i);
  __atomic_store_n(&to->magic, kMappingsMagic, __ATOMIC_RELEASE);
}

void PublishLiveBytes(int64_t live_bytes) {
  PublishedMappings* const to = published.load();
  if (to != nullptr) to->live_bytes.store(live_bytes);
}

}  // namespace footprint::profiling_internal
