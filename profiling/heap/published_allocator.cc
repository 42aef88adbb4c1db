#include "footprint/profiling/heap/published_allocator.h"

#include <sched.h>
#include <unistd.h>

#include <cstddef>

#include "absl/base/thread_annotations.h"
#include "footprint/profiling/heap/allocator_mappings.h"
#include "footprint/profiling/heap/mapped_ranges.h"

extern "C" __attribute__((weak)) int mallctl(const char* name, void* old_value,
                                             size_t* old_size, void* new_value,
                                             size_t new_size);

namespace footprint::profiling_internal {
namespace {

// Taken inside the allocator, whose own locks keep a fork away meanwhile: so
// none of fork's handlers needs to take it.
class ABSL_LOCKABLE SpinLock {
 public:
  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() {
    while (taken_.exchange(true, std::memory_order_acquire)) sched_yield();
  }
  void Unlock() ABSL_UNLOCK_FUNCTION() {
    taken_.store(false, std::memory_order_release);
  }

 private:
  std::atomic<bool> taken_{false};
};
SpinLock ranges_lock;

class ABSL_SCOPED_LOCKABLE RangesLock {
 public:
  RangesLock() ABSL_EXCLUSIVE_LOCK_FUNCTION(ranges_lock) { ranges_lock.Lock(); }
  ~RangesLock() ABSL_UNLOCK_FUNCTION() { ranges_lock.Unlock(); }
  RangesLock(const RangesLock&) = delete;
  RangesLock& operator=(const RangesLock&) = delete;
};

MappedRanges ranges ABSL_GUARDED_BY(ranges_lock);
PublishedAllocator* published ABSL_GUARDED_BY(ranges_lock) = nullptr;
std::atomic<int64_t> look_at_live_bytes{0};

// Where the agent's ranges are stored: here, so that the child of a fork knows
// its parent's, and at `published`. Without a lock, since a signal handler may
// add one while this thread holds the lock.
PublishedAllocator::AgentRange agent_ranges[kMaxAgentRanges];
std::atomic<PublishedAllocator::AgentRange*> published_agent_ranges{nullptr};

void PublishAgentRange(uint32_t index) {
  PublishedAllocator::AgentRange* const to = published_agent_ranges.load();
  if (to == nullptr) return;
  // A range without its end is empty to a reader.
  to[index].end.store(agent_ranges[index].end.load());
  to[index].begin.store(agent_ranges[index].begin.load());
}

void BeginChange() ABSL_EXCLUSIVE_LOCKS_REQUIRED(ranges_lock) {
  published->generation.fetch_add(1);
}
void EndChange() ABSL_EXCLUSIVE_LOCKS_REQUIRED(ranges_lock) {
  published->generation.fetch_add(1);
}

void StoreRanges() ABSL_EXCLUSIVE_LOCKS_REQUIRED(ranges_lock) {
  if (published == nullptr) return;
  BeginChange();
  const size_t count = ranges.range_count();
  published->is_cut = count > kMaxAllocatorRanges ? 1 : 0;
  published->range_count = published->is_cut != 0
                               ? kMaxAllocatorRanges
                               : static_cast<uint32_t>(count);
  for (uint32_t i = 0; i < published->range_count; ++i) {
    const MappedRanges::Range& range = ranges.range(i);
    published->ranges[i] = {range.begin, range.end};
  }
  EndChange();
}

// jemalloc's figure of that name, in its own unit.
int64_t Statistic(const char* name) {
  size_t value = 0;
  size_t size = sizeof(value);
  const bool is_known = mallctl(name, &value, &size, nullptr, 0) == 0;
  return is_known ? static_cast<int64_t>(value) : 0;
}

AllocatorBooks Books(int64_t live_bytes, int64_t now_ns) {
  uint64_t epoch = 1;
  mallctl("epoch", nullptr, nullptr, &epoch, sizeof(epoch));
  const int64_t page_bytes = sysconf(_SC_PAGESIZE);
  // 4096 stands for all arenas.
  return {now_ns,
          live_bytes,
          Statistic("stats.allocated"),
          Statistic("stats.arenas.4096.tcache_bytes"),
          Statistic("stats.active"),
          Statistic("stats.metadata"),
          Statistic("stats.arenas.4096.pdirty") * page_bytes +
              Statistic("stats.arenas.4096.pmuzzy") * page_bytes};
}

}  // namespace

void AllocatorMapped(uintptr_t begin, size_t size_bytes) {
  RangesLock lock;
  ranges.Add(begin, size_bytes);
  StoreRanges();
}

void AllocatorUnmapped(uintptr_t begin, size_t size_bytes) {
  RangesLock lock;
  ranges.Remove(begin, size_bytes);
  StoreRanges();
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

void PublishAllocator(PublishedAllocator* to) {
  RangesLock lock;
  published = to;
  look_at_live_bytes.store(0);
  published_agent_ranges.store(to == nullptr ? nullptr : to->agent_ranges);
  if (published == nullptr) return;
  for (uint32_t i = 0; i < kMaxAgentRanges; ++i) PublishAgentRange(i);
  StoreRanges();
  __atomic_store_n(&published->magic, kAllocatorMagic, __ATOMIC_RELEASE);
}

void ReadAllocatorBooks(int64_t live_bytes, int64_t now_ns) {
  int64_t look_at_bytes = look_at_live_bytes.load(std::memory_order_relaxed);
  if (live_bytes < look_at_bytes || mallctl == nullptr ||
      !look_at_live_bytes.compare_exchange_strong(
          look_at_bytes, live_bytes + live_bytes / 50 + 1)) {
    return;
  }
  // Before the lock, which the allocator may take in a statistic.
  const AllocatorBooks books = Books(live_bytes, now_ns);
  RangesLock lock;
  if (published == nullptr) return;
  BeginChange();
  published->books = books;
  EndChange();
}

}  // namespace footprint::profiling_internal
