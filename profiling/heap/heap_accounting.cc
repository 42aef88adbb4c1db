#include "footprint/profiling/heap/heap_accounting.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "footprint/profiling/heap/process_counters.h"
#include "footprint/profiling/heap/thread_records.h"
#include "footprint/profiling/heap/thread_registration.h"
#include "footprint/profiling/heap/thread_tree.h"

namespace footprint {
namespace profiling_internal {
namespace {

Quantities CurrentQuantities(int64_t live_bytes)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock) {
  Totals totals = process.ended;
  for (const ThreadCounters* each = process.first_thread; each != nullptr;
       each = each->next) {
    totals.Add(*each);
  }
  Quantities now;
  now[HeapQuantity::kLiveBytes] = live_bytes;
  now[HeapQuantity::kAllocatedBytes] = totals.allocated_bytes;
  now[HeapQuantity::kAllocationCount] = totals.allocation_count;
  now[HeapQuantity::kMappedBytes] = process.mapped_bytes;
  if (process.requested != nullptr) {
    now[HeapQuantity::kRequestedBytes] = process.requested->live_bytes();
  }
  return now;
}

// Returns the peaks since the last phase event, of the quantities that can
// fall, and starts new ones.
Quantities TakePeaks() ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock) {
  Quantities peaks;
  peaks[HeapQuantity::kLiveBytes] = process.peak_absolute_bytes;
  peaks[HeapQuantity::kMappedBytes] = process.mapped_peak_absolute_bytes;
  if (process.requested != nullptr) {
    peaks[HeapQuantity::kRequestedBytes] =
        process.requested->take_peak_absolute_bytes();
  }
  process.mapped_peak_absolute_bytes = process.mapped_bytes;
  return peaks;
}

void FoldThreadPeaks() ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock) {
  for (ThreadCounters* each = process.first_thread; each != nullptr;
       each = each->next) {
    UpdateNode(*each, each->summed_live_bytes, each->record);
    RaiseHighest(process.open_phases, each->peak_absolute_bytes.load(),
                 &each->record->node);
    each->peak_absolute_bytes.store(each->summed_live_bytes);
    ForceLook(each);
  }
}

// Adds the peaks since the last phase event to every open phase and starts new
// ones from the live bytes, which it returns.
int64_t FoldPeaks() ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock) {
  const int64_t live_bytes = SumLiveBytes(nullptr, 0);
  const Quantities peaks = TakePeaks();
  for (Phase& phase : process.phases) {
    if (phase.open) phase.peak.RaiseTo(peaks);
  }
  FoldThreadPeaks();
  process.peak_absolute_bytes = live_bytes;
  ShareHeadroom(live_bytes);
  return live_bytes;
}

void BeginPhaseSlot(int slot, int64_t live_bytes)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock) {
  Phase& phase = process.phases[slot];
  phase = Phase();
  SetOpen(slot, true);
  phase.begin = CurrentQuantities(live_bytes);
  phase.peak = phase.begin;
  for (ThreadRecord* each = process.first_record; each != nullptr;
       each = each->next) {
    BeginPhase(slot, &each->node);
  }
}

// Returns the bound over all interleavings.
int64_t SumThreadPeaks(int slot) ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock) {
  int64_t sum_bytes = process.phases[slot].ended_thread_peak_net_bytes;
  for (const ThreadRecord* each = process.first_record; each != nullptr;
       each = each->next) {
    if (each->node.creator == nullptr) {
      sum_bytes += HighestNetBytes(slot, each->node);
    }
  }
  return sum_bytes;
}

// Returns whether there are several interleavings.
bool ThreadsMayOverlap(int slot) ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock) {
  const Phase& phase = process.phases[slot];
  int active_root_count = phase.ended_root_count;
  bool overlap = phase.ended_roots_overlap;
  for (const ThreadRecord* each = process.first_record; each != nullptr;
       each = each->next) {
    if (each->node.creator != nullptr) continue;
    overlap |= Overlaps(slot, each->node);
    if (IsActive(slot, each->node)) ++active_root_count;
  }
  return overlap || active_root_count > 1;
}

int64_t MetricValue(const HeapMetric& metric, int slot, const Quantities& end)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock) {
  const Phase& phase = process.phases[slot];
  const HeapQuantity quantity = metric.quantity;
  switch (metric.statistic) {
    case HeapStatistic::kNetPeak:
      return phase.peak[quantity] - phase.begin[quantity];
    case HeapStatistic::kAbsolutePeak:
      return phase.peak[quantity];
    case HeapStatistic::kNetChange:
      return end[quantity] - phase.begin[quantity];
    case HeapStatistic::kNetThreadPeakSum:
      return SumThreadPeaks(slot);
  }
  return 0;
}

HeapPhaseBytes ReadPhaseSlot(int slot, int64_t live_bytes)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock) {
  const Quantities end = CurrentQuantities(live_bytes);
  HeapPhaseBytes bytes;
  for (const HeapMetric& metric : kHeapMetrics) {
    bytes.*metric.member = MetricValue(metric, slot, end);
  }
  bytes.threads_may_overlap = ThreadsMayOverlap(slot);
  bytes.active_thread_count = process.phases[slot].ended_active_thread_count;
  for (const ThreadCounters* each = process.first_thread; each != nullptr;
       each = each->next) {
    if (WasActive(*each, slot)) ++bytes.active_thread_count;
  }
  return bytes;
}

// Returns the phase's number, or -1 if kMaxOpenPhases are open.
int BeginAnyPhase() {
  // Registered first, so that no other thread counts as the only one.
  RegisterThread();
  ProcessLock lock;
  for (int slot = 0; slot < kMaxOpenPhases; ++slot) {
    if (process.phases[slot].open) continue;
    BeginPhaseSlot(slot, FoldPeaks());
    return slot;
  }
  return -1;
}

}  // namespace

void PublishHeap(PublishedHeap* published) {
  RegisterThread();
  ProcessLock lock;
  process.published = published;
  if (published == nullptr) return;
  const int64_t live_bytes = FoldPeaks();
  const Quantities& peak = process.phases[kProcessPhase].peak;
  published->peak_live_bytes.store(
      std::max(live_bytes, peak[HeapQuantity::kLiveBytes]));
  published->RaiseMapped(peak[HeapQuantity::kMappedBytes]);
  published->RaiseMapped(process.mapped_bytes);
}

}  // namespace profiling_internal

using profiling_internal::FoldPeaks;
using profiling_internal::process;
using profiling_internal::ProcessLock;
using profiling_internal::ReadPhaseSlot;
using profiling_internal::RegisterThread;

// Both are unchecked: each reads one word that is set once, before main, and
// callers may hold any lock.
bool HeapIsAccounted() ABSL_NO_THREAD_SAFETY_ANALYSIS { return process.in_use; }

bool RequestedBytesAreCounted() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  return process.requested != nullptr;
}

HeapPhase TryBeginHeapPhase() { return {profiling_internal::BeginAnyPhase()}; }

HeapPhase BeginHeapPhase() {
  const HeapPhase phase = TryBeginHeapPhase();
  if (phase.number < 0) {
    static constexpr char kMessage[] =
        "footprint: more than 32 heap phases are open at once; end one before "
        "beginning another\n";
    // stdio may allocate, so the message is written directly.
    if (write(STDERR_FILENO, kMessage, sizeof(kMessage) - 1) < 0) std::abort();
    std::abort();
  }
  return phase;
}

HeapPhaseBytes ReadHeapPhase(const HeapPhase& phase) {
  RegisterThread();
  ProcessLock lock;
  return ReadPhaseSlot(phase.number, FoldPeaks());
}

HeapPhaseBytes EndHeapPhase(const HeapPhase& phase) {
  RegisterThread();
  ProcessLock lock;
  const HeapPhaseBytes bytes = ReadPhaseSlot(phase.number, FoldPeaks());
  profiling_internal::SetOpen(phase.number, false);
  return bytes;
}

HeapPhase ProcessHeapPhase() { return {profiling_internal::kProcessPhase}; }

void RestartProcessHeapPhase() {
  RegisterThread();
  ProcessLock lock;
  profiling_internal::BeginPhaseSlot(profiling_internal::kProcessPhase,
                                     FoldPeaks());
}

int64_t LiveHeapBytes() {
  ProcessLock lock;
  return profiling_internal::SumLiveBytes(nullptr, 0);
}

int CountedForks() { return process.forked_process_count.load(); }

}  // namespace footprint
