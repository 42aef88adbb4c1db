#include "footprint/profiling/heap/process_counters.h"

#include "footprint/base/memory/membarrier.h"
#include "footprint/profiling/heap/coarse_time.h"

namespace footprint::profiling_internal {
namespace {

void SetThresholds(ThreadCounters* counters, int64_t upper_bytes) {
  // No store that changes nothing: it would take the cache line from the
  // thread.
  if (upper_bytes == counters->counted_upper_threshold_bytes &&
      upper_bytes == counters->upper_threshold_bytes.load()) {
    return;
  }
  process.sum_of_upper_thresholds +=
      upper_bytes - counters->counted_upper_threshold_bytes;
  counters->counted_upper_threshold_bytes = upper_bytes;
  if (counters->thresholds_are_pending) return;
  counters->upper_threshold_bytes.store(upper_bytes);
  counters->lower_threshold_bytes.store(upper_bytes - kHysteresisBytes);
  counters->has_lower_threshold.store(true);
  counters->check_at_bytes.store(0);
}

}  // namespace

const uint64_t kNoBytes = 0;
// The model again, or this file's own uses lose it: the function that they
// would call may allocate (after dlopen of libraries with storage of their
// own).
__thread ThreadCounters thread_counters
    __attribute__((tls_model("initial-exec")));
ProcessCounters process;

uint32_t CurrentStage() {
  const PublishedHeap* const published = process.published;
  return published == nullptr
             ? 0
             : published->stage.load(std::memory_order_relaxed);
}

void SetOpen(int phase, bool is_open) {
  process.phases[phase].open = is_open;
  const PhaseSet bit = PhaseSet{1} << phase;
  process.open_phases =
      is_open ? process.open_phases | bit : process.open_phases & ~bit;
}

bool OneThreadIsAlone() {
  return process.thread_count == 1 && process.can_synchronise;
}

void ForceSlowPath(ThreadCounters* counters) {
  counters->check_at_bytes.store(0);
  counters->upper_threshold_bytes.store(INT64_MIN);
  counters->lower_threshold_bytes.store(INT64_MAX);
  counters->has_lower_threshold.store(true);
}

void SetThresholdOfOnlyThread() {
  ThreadCounters* counters = process.first_thread;
  counters->thresholds_are_pending = false;
  counters->upper_threshold_bytes.store(process.peak_absolute_bytes -
                                        process.ended.live_bytes);
  counters->has_lower_threshold.store(false);
  counters->check_at_bytes.store(0);
  if (counters == &thread_counters) return;
  // The thread may be about to store what it computed from the old threshold.
  Membarrier();
  counters->check_at_bytes.store(0);
}

int64_t SumLiveBytes(const ThreadCounters* counters, int64_t level_bytes) {
  int64_t sum = process.ended.live_bytes;
  for (ThreadCounters* each = process.first_thread; each != nullptr;
       each = each->next) {
    if (each == counters) {
      each->summed_live_bytes = level_bytes;
    } else if (each == &thread_counters || each->thresholds_are_pending ||
               OneThreadIsAlone()) {
      each->summed_live_bytes = each->live_bytes();
    } else {
      const int64_t upper_bytes = each->counted_upper_threshold_bytes;
      each->summed_live_bytes =
          std::max(upper_bytes - kHysteresisBytes,
                   std::min(each->live_bytes(), upper_bytes));
    }
    sum += each->summed_live_bytes;
  }
  return sum;
}

void RaisePeak(int64_t sum_bytes) {
  if (sum_bytes <= process.peak_absolute_bytes) return;
  process.peak_absolute_bytes = sum_bytes;
  PublishedHeap* const published = process.published;
  if (published == nullptr ||
      sum_bytes <= published->peak_live_bytes.load(std::memory_order_relaxed)) {
    return;
  }
  published->peak_live_bytes.store(sum_bytes, std::memory_order_relaxed);
  published->peak_time_ns.store(CoarseTimeNs(), std::memory_order_relaxed);
  published->peak_stage.store(published->stage.load(std::memory_order_relaxed),
                              std::memory_order_relaxed);
  published->peak_count.store(published->peak_count.load() + 1,
                              std::memory_order_relaxed);
}

void ShareHeadroom(int64_t sum_bytes) {
  if (OneThreadIsAlone()) {
    SetThresholdOfOnlyThread();
    return;
  }
  const int64_t headroom_bytes =
      process.thread_count == 0
          ? 0
          : (process.peak_absolute_bytes - sum_bytes) / process.thread_count;
  const int64_t share_bytes = std::min(headroom_bytes, kHysteresisBytes / 2);
  for (ThreadCounters* each = process.first_thread; each != nullptr;
       each = each->next) {
    SetThresholds(each, each->summed_live_bytes + share_bytes);
  }
}

void CentreThresholds(ThreadCounters* counters) {
  const int64_t left_bytes = process.peak_absolute_bytes -
                             process.ended.live_bytes -
                             (process.sum_of_upper_thresholds -
                              counters->counted_upper_threshold_bytes);
  SetThresholds(
      counters,
      std::min(counters->live_bytes() + kHysteresisBytes / 2, left_bytes));
}

void RaiseThresholds(ThreadCounters* counters, int64_t level_bytes) {
  if (!OneThreadIsAlone()) {
    const int64_t others_bytes = process.sum_of_upper_thresholds -
                                 counters->counted_upper_threshold_bytes;
    if (level_bytes + others_bytes + process.ended.live_bytes <=
        process.peak_absolute_bytes) {
      CentreThresholds(counters);
      return;
    }
  }
  const int64_t sum_bytes = SumLiveBytes(counters, level_bytes);
  RaisePeak(sum_bytes);
  ShareHeadroom(sum_bytes);
  // A block that was live for the moment only is gone by now.
  if (!OneThreadIsAlone() && level_bytes > counters->live_bytes()) {
    CentreThresholds(counters);
  }
}

// The first thread had no lower threshold while it was alone, and looked before
// each free whether it had. One free may have looked before it got one and end
// at any time: until the thread's next call, its live bytes are taken as they
// are read.
void BeginLowerThresholds() {
  ThreadCounters* counters = process.first_thread;
  counters->thresholds_are_pending = true;
  ForceSlowPath(counters);
  Membarrier();
  counters->check_at_bytes.store(0);
  counters->counted_upper_threshold_bytes =
      std::min(counters->live_bytes(),
               process.peak_absolute_bytes - process.ended.live_bytes);
  process.sum_of_upper_thresholds = counters->counted_upper_threshold_bytes;
}

}  // namespace footprint::profiling_internal
