#include "footprint/profiling/sites/call_sites.h"

#include <math.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <new>

#include "footprint/base/threads/fork_handlers.h"
#include "footprint/base/threads/pthread_mutex.h"
#include "footprint/profiling/heap/coarse_time.h"
#include "footprint/profiling/heap/heap_accounting.h"
#include "footprint/profiling/heap/mapping_hooks.h"
#include "footprint/profiling/heap/process_counters.h"
#include "footprint/profiling/heap/published_mappings.h"
#include "footprint/profiling/heap/sample_schedule.h"
#include "footprint/profiling/records/site_record.h"
#include "footprint/profiling/sites/call_tree_writer.h"
#include "footprint/profiling/sites/current_stack.h"
#include "footprint/profiling/sites/growing_file.h"
#include "footprint/profiling/sites/mapping_sites.h"
#include "footprint/profiling/sites/number_index.h"
#include "footprint/profiling/sites/site_growth.h"
#include "footprint/profiling/sites/thread_number.h"
#include "footprint/profiling/stacks/stack_unwinder.h"

namespace footprint::profiling_internal {

BlockTable recorded_blocks;
bool every_allocation_is_recorded = false;

namespace {

constexpr int64_t kLeastTimeResolutionNs = 1'000'000;
// The longest time that counts as active between two points of the timeline,
// unless the timeline's resolution is coarser.
constexpr int64_t kMostActiveNs = 10'000'000;

PthreadMutex lock = PthreadMutex::Adaptive();
// True while this thread has the lock, takes it or gives it back. A signal
// handler reads it, so it is volatile.
__thread volatile bool uses_lock __attribute__((tls_model("initial-exec"))) =
    false;

void LockSites() ABSL_EXCLUSIVE_LOCK_FUNCTION(lock) {
  uses_lock = true;
  lock.Lock();
}
void UnlockSites() ABSL_UNLOCK_FUNCTION(lock) {
  lock.Unlock();
  uses_lock = false;
}

class ABSL_SCOPED_LOCKABLE SitesLock {
 public:
  SitesLock() ABSL_EXCLUSIVE_LOCK_FUNCTION(lock) { LockSites(); }
  ~SitesLock() ABSL_UNLOCK_FUNCTION() { UnlockSites(); }
  SitesLock(const SitesLock&) = delete;
  SitesLock& operator=(const SitesLock&) = delete;
};

GrowingFile site_file ABSL_GUARDED_BY(lock);
SiteFile* sites ABSL_GUARDED_BY(lock) = nullptr;
// 0 means that every allocation is recorded. Undefined while `sites` is null.
int64_t interval_bytes ABSL_GUARDED_BY(lock) = 0;
int64_t live_bytes ABSL_GUARDED_BY(lock) = 0;
SiteGrowth growth ABSL_GUARDED_BY(lock);
int64_t last_time_point_ns ABSL_GUARDED_BY(lock) = 0;
std::atomic<int64_t> next_time_point_ns{0};
CallTreeWriter call_tree ABSL_GUARDED_BY(lock);
GrowingArray site_array ABSL_GUARDED_BY(lock);
NumberIndex site_index ABSL_GUARDED_BY(lock);
MappingSites mapping_sites ABSL_GUARDED_BY(lock);

uint64_t PeakNumber() ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock) {
  if (interval_bytes == 0) {
    return sites->peak_number.load(std::memory_order_relaxed);
  }
  const PublishedHeap* const published = process.published;
  return published == nullptr
             ? 0
             : published->peak_count.load(std::memory_order_relaxed);
}

uint64_t RecentPeakNumber() ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock) {
  if (interval_bytes == 0) {
    return sites->recent_peak_number.load(std::memory_order_relaxed);
  }
  const PublishedHeap* const published = process.published;
  return published == nullptr
             ? 0
             : published->recent_peak_count.load(std::memory_order_relaxed);
}

void NoteFull() ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock) {
  sites->is_full.store(1, std::memory_order_relaxed);
}

// Returns NumberIndex::kNone if the site does not exist yet.
uint32_t FindKnownSite(uint32_t node, uint32_t thread, uint32_t stage)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock) {
  return site_index.Find(HashPair(HashPair(node, thread), stage),
                         [&](uint32_t number) {
                           lock.AssertHeld();
                           const SiteRecord& site = sites->sites[number];
                           return site.node == node && site.thread == thread &&
                                  site.stage == stage;
                         });
}

uint32_t OuterCall(uint32_t node) ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock) {
  return sites->tree.nodes[node].parent;
}

// Returns the call in the stack of `node` that has at most `limit` calls around
// it.
uint32_t CutToOuterCalls(uint32_t node, uint32_t limit)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock) {
  uint32_t depth = 0;
  for (uint32_t n = node; n != kRootNode; n = OuterCall(n)) ++depth;
  for (; depth > limit; --depth) node = OuterCall(node);
  return node;
}

// Returns how many outer calls of a new stack a site may have. There is no
// limit until seven eighths of the sites are used. From then on it falls with
// the sites that are left, so that a program with very many stacks still has,
// for each block, the outer calls, which are its own code's.
uint32_t OuterCallLimit(uint32_t site_count) {
  constexpr uint32_t kFewestCalls = 8;
  constexpr uint32_t kMostCalls = 64;
  constexpr uint32_t kKeptSites = kMaxSites / 8;
  const uint32_t free_sites = kMaxSites - site_count;
  if (free_sites > kKeptSites) return UINT32_MAX;
  return kFewestCalls +
         static_cast<uint32_t>(uint64_t{kMostCalls - kFewestCalls} *
                               free_sites / kKeptSites);
}

// Returns the site's number. Site 0 stands for blocks without a site of their
// own: those that found no room, and those from before the start.
uint32_t FindSite(uint32_t node, uint32_t thread, uint32_t stage)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock) {
  uint32_t known = FindKnownSite(node, thread, stage);
  if (known != NumberIndex::kNone) return known;
  const uint32_t number = sites->site_count.load(std::memory_order_relaxed);
  const uint32_t outer = CutToOuterCalls(node, OuterCallLimit(number));
  if (outer != node) {
    NoteFull();
    known = FindKnownSite(outer, thread, stage);
    if (known != NumberIndex::kNone) return known;
    node = outer;
  }
  if (!site_array.Reach(number) ||
      !site_index.Add(HashPair(HashPair(node, thread), stage), number)) {
    NoteFull();
    while (known == NumberIndex::kNone && node != kRootNode) {
      node = OuterCall(node);
      known = FindKnownSite(node, thread, stage);
    }
    return known;
  }
  SiteRecord& site = sites->sites[number];
  site.node = node;
  site.thread = thread;
  site.stage = stage;
  sites->site_count.store(number + 1, std::memory_order_release);
  return number;
}

// Figures of all the blocks that a recorded block stands for.
struct Estimate {
  int64_t bytes;
  int64_t count;
  double variance;
};

Estimate EstimateBlocks(int64_t size_bytes)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock) {
  if (interval_bytes == 0) return {size_bytes, 1, 0};
  const double size = static_cast<double>(size_bytes);
  const double probability =
      -expm1(-size / static_cast<double>(interval_bytes));
  const double bytes = size / probability;
  return {static_cast<int64_t>(bytes + 0.5),
          static_cast<int64_t>(1 / probability + 0.5),
          bytes * bytes * (1 - probability)};
}

// Copies a site's figures at the peak if needed. Call it before the site's live
// figures change.
void KeepFiguresAtPeak(SiteRecord* site) ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock) {
  const uint64_t recent_peak = RecentPeakNumber();
  if (site->recent_peak_number != recent_peak) {
    site->at_recent_peak_bytes = site->live_bytes;
    site->recent_peak_number = recent_peak;
  }
  const uint64_t peak = PeakNumber();
  if (site->peak_number == peak) return;
  site->at_peak_bytes = site->live_bytes;
  site->at_peak_count = site->live_count;
  site->at_peak_variance = site->live_variance;
  site->peak_number = peak;
}

void AddLive(uint32_t number, int64_t size_bytes, int sign)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock) {
  SiteRecord* const site = &sites->sites[number];
  KeepFiguresAtPeak(site);
  const Estimate estimate = EstimateBlocks(size_bytes);
  site->live_bytes += sign * estimate.bytes;
  site->live_count += sign * estimate.count;
  site->live_variance += sign * estimate.variance;
  live_bytes += sign * estimate.bytes;
  growth.Change(number, site->live_bytes - sign * estimate.bytes,
                site->live_bytes);
}

// Adds a block to what the site allocated. The block stands for others with its
// whole size, of which `kept_bytes` are not new.
void AddAllocated(uint32_t number, int64_t size_bytes, int64_t kept_bytes)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock) {
  SiteRecord* const site = &sites->sites[number];
  const Estimate estimate = EstimateBlocks(size_bytes);
  const double kept_share =
      static_cast<double>(kept_bytes) / static_cast<double>(size_bytes);
  const double new_share = 1 - kept_share;
  site->allocated_bytes +=
      estimate.bytes -
      static_cast<int64_t>(static_cast<double>(estimate.bytes) * kept_share +
                           0.5);
  site->allocation_count += estimate.count;
  site->allocated_variance += estimate.variance * new_share * new_share;
  ++site->sample_count;
}

// Changes the bytes of site 0. Its count stays, because the number of blocks
// from before the start is unknown.
void ChangeOlderBytes(int64_t change_bytes)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock) {
  SiteRecord* const site = &sites->sites[0];
  KeepFiguresAtPeak(site);
  site->live_bytes += change_bytes;
  live_bytes += change_bytes;
  growth.Change(0, site->live_bytes - change_bytes, site->live_bytes);
}

void RaiseTo(int64_t bytes, std::atomic<int64_t>* peak_bytes,
             std::atomic<uint64_t>* peak_number) {
  if (bytes <= peak_bytes->load(std::memory_order_relaxed)) return;
  peak_bytes->store(bytes, std::memory_order_relaxed);
  peak_number->store(peak_number->load(std::memory_order_relaxed) + 1,
                     std::memory_order_relaxed);
}

// Takes the peaks of the sites' own sum if nothing is sampled.
void RaiseOwnPeak() ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock) {
  if (interval_bytes != 0) return;
  RaiseTo(live_bytes, &sites->peak_live_bytes, &sites->peak_number);
  RaiseTo(live_bytes, &sites->recent_peak_live_bytes,
          &sites->recent_peak_number);
}

uint32_t CallsOfThread() {
  return static_cast<uint32_t>(
      thread_counters.allocation_count.load(std::memory_order_relaxed));
}

// Drops every second point and doubles the time between later ones. Of each two
// points, the higher one stays.
void HalveTimePoints() ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock) {
  for (uint32_t i = 0; i < kMaxTimePoints / 2; ++i) {
    const TimePoint& first = sites->time_points[2 * i];
    const TimePoint& second = sites->time_points[2 * i + 1];
    sites->time_points[i] =
        first.live_bytes > second.live_bytes ? first : second;
  }
  sites->time_point_count.store(kMaxTimePoints / 2, std::memory_order_relaxed);
  sites->time_resolution_ns.store(
      sites->time_resolution_ns.load(std::memory_order_relaxed) * 2,
      std::memory_order_relaxed);
}

// Runs after the counters' constructor (101), whose lock is taken while this
// one is held.
__attribute__((constructor(102))) void WatchForks() {
  AddForkHandlers({&lock, LockSites, UnlockSites, UnlockSites});
}

void ForgetParent() ABSL_EXCLUSIVE_LOCKS_REQUIRED(lock) {
  site_file.Close();
  growth.Close();
  mapping_sites.End();
  sites = nullptr;
  every_allocation_is_recorded = false;
  site_index.Clear();
  // The child frees blocks that its parent recorded, so it starts with an empty
  // table.
  new (&recorded_blocks) BlockTable();
  SetHasRecordedBlocks(false);
  live_bytes = 0;
  RestartThreadNumbers();
}

}  // namespace

bool BeginCallSites(int folder, const char* file_name,
                    int64_t sampling_interval_bytes) {
  SitesLock guard;
  ForgetParent();
  auto* const opened = static_cast<SiteFile*>(site_file.Create(
      folder, file_name, sizeof(SiteFile), offsetof(SiteFile, tree.modules)));
  if (opened == nullptr) return false;
  site_array = GrowingArray(&site_file, offsetof(SiteFile, sites),
                            sizeof(SiteRecord), kMaxSites);
  if (!site_array.Reach(0) || !mapping_sites.Begin(&site_file, opened) ||
      !call_tree.Begin(&site_file, &opened->tree, offsetof(SiteFile, tree))) {
    return false;
  }
  interval_bytes = sampling_interval_bytes;
  opened->sampling_interval_bytes = sampling_interval_bytes;
  opened->time_resolution_ns = kLeastTimeResolutionNs;
  opened->site_count = 1;
  sites = opened;
  every_allocation_is_recorded = interval_bytes == 0;
  if (interval_bytes == 0) {
    ChangeOlderBytes(LiveHeapBytes());
    RaiseOwnPeak();
  }
  __atomic_store_n(&opened->magic, kSiteMagic, __ATOMIC_RELEASE);
  return true;
}

void BeginSiteGrowth(int folder, const char* file_name) {
  SitesLock guard;
  if (sites != nullptr) growth.Begin(folder, file_name, CoarseTimeNs());
  last_time_point_ns = CoarseTimeNs();
}

void EndCallSites() {
  SitesLock guard;
  ForgetParent();
}

void RecordFreeOfOlder(int64_t size_bytes) {
  if (size_bytes == 0) return;
  SitesLock guard;
  if (sites != nullptr) ChangeOlderBytes(-size_bytes);
}

void RecordAllocation(void* block, int64_t size_bytes, int64_t kept_bytes) {
  uintptr_t calls[kMaxCalls];
  const int count = ReadCurrentStack(CallingFrame(), calls);
  SitesLock guard;
  if (sites == nullptr) return;
  const uint32_t site = FindSite(call_tree.FindNode(calls, count),
                                 ThreadNumber(), CurrentStage());
  AddAllocated(site, size_bytes, kept_bytes);
  if (!recorded_blocks.Add({reinterpret_cast<uintptr_t>(block), size_bytes,
                            site, CallsOfThread()})) {
    NoteFull();
    return;
  }
  SetHasRecordedBlocks(true);
  AddLive(site, size_bytes, 1);
  RaiseOwnPeak();
}

void RecordFree(void* block) {
  SitesLock guard;
  RecordedBlock recorded;
  if (sites == nullptr || !recorded_blocks.Remove(block, &recorded)) return;
  SetHasRecordedBlocks(recorded_blocks.size() != 0);
  SiteRecord& site = sites->sites[recorded.site];
  if (site.thread == ThreadNumber() && recorded.calls == CallsOfThread()) {
    site.temporary_count += EstimateBlocks(recorded.size_bytes).count;
  }
  AddLive(recorded.site, recorded.size_bytes, -1);
}

bool DetachRecorded(void* block, RecordedBlock* detached) {
  SitesLock guard;
  return sites != nullptr && recorded_blocks.Remove(block, detached);
}

void ForgetDetached(const RecordedBlock& detached) {
  SitesLock guard;
  if (sites != nullptr) AddLive(detached.site, detached.size_bytes, -1);
}

void AttachAgain(const RecordedBlock& detached) {
  SitesLock guard;
  if (sites == nullptr) return;
  if (!recorded_blocks.Add(detached)) {
    NoteFull();
    AddLive(detached.site, detached.size_bytes, -1);
  }
  SetHasRecordedBlocks(recorded_blocks.size() != 0);
}

bool InterruptsRecorder() { return IsReadingCurrentStack() || uses_lock; }

void ProgramMapped(uintptr_t begin, size_t size_bytes, bool by_this_call) {
  uintptr_t calls[kMaxCalls];
  const int count = by_this_call ? ReadCurrentStack(CallingFrame(), calls) : 0;
  SitesLock guard;
  if (sites == nullptr) return;
  const uint32_t node = call_tree.FindNode(calls, count);
  if (!mapping_sites.Map(begin, size_bytes, node, CurrentStage())) NoteFull();
}

void ProgramUnmapped(uintptr_t begin, size_t size_bytes) {
  SitesLock guard;
  if (sites != nullptr && !mapping_sites.Unmap(begin, size_bytes)) NoteFull();
}

void ForgetCode() {
  SitesLock guard;
  ForgetFrameRows();
  call_tree.ForgetCode();
}

void RestartRecentPeakOfSites() {
  RestartRecentPeak();
  SitesLock guard;
  if (sites == nullptr) return;
  sites->recent_peak_live_bytes.store(live_bytes, std::memory_order_relaxed);
  sites->recent_peak_number.store(
      sites->recent_peak_number.load(std::memory_order_relaxed) + 1,
      std::memory_order_relaxed);
}

// Reads `sites` without the lock, since every sample calls it; RecordTime reads
// it again under the lock. Two threads may both get true, so two points may lie
// close together.
bool IsTimeToRecord() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  const int64_t now_ns = CoarseTimeNs();
  if (now_ns < next_time_point_ns.load(std::memory_order_relaxed)) return false;
  return sites != nullptr;
}

void RecordTime(int64_t live_now_bytes) {
  const int64_t now_ns = CoarseTimeNs();
  PublishLiveBytes(live_now_bytes);
  SitesLock guard;
  if (sites == nullptr) return;
  uint32_t count = sites->time_point_count.load(std::memory_order_relaxed);
  next_time_point_ns.store(now_ns + sites->time_resolution_ns.load());
  if (count == kMaxTimePoints) {
    HalveTimePoints();
    count = kMaxTimePoints / 2;
  }
  // In a longer pause the process waited most of the time.
  growth.Advance(now_ns, std::min(now_ns - last_time_point_ns,
                                  std::max(kMostActiveNs,
                                           sites->time_resolution_ns.load())));
  last_time_point_ns = now_ns;
  sites->time_points[count] = {now_ns, live_now_bytes, CurrentStage(), 0};
  sites->time_point_count.store(count + 1, std::memory_order_release);
}

}  // namespace footprint::profiling_internal
