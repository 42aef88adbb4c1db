#include "footprint/profiling/heap/process_counters.h"

#include "footprint/base/memory/membarrier.h"
#include "footprint/profiling/heap/coarse_time.h"

namespace footprint::profiling_internal {
namespace {

// What a thread that may be running has live, at one moment.
int64_t LiveBytesOf(const ThreadCounters& counters) {
  constexpr int kAttempts = 1000;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const uint64_t allocated_bytes =
        __atomic_load_n(counters.allocated_bytes, __ATOMIC_ACQUIRE);
    const uint64_t deallocated_bytes =
        __atomic_load_n(counters.deallocated_bytes, __ATOMIC_ACQUIRE);
    if (__atomic_load_n(counters.allocated_bytes, __ATOMIC_ACQUIRE) ==
        allocated_bytes) {
      return static_cast<int64_t>(allocated_bytes - deallocated_bytes);
    }
  }
  return std::min(counters.live_bytes(), counters.threshold_bytes.load());
}

void PublishPeak(int64_t sum_bytes) {
  PublishedHeap* const published = process.published;
  if (published == nullptr ||
      sum_bytes <= published->peak_live_bytes.load(std::memory_order_relaxed)) {
    return;
  }
  published->peak_live_bytes.store(sum_bytes, std::memory_order_relaxed);
  published->peak_time_ns.store(CoarseTimeNs(), std::memory_order_relaxed);
  published->peak_stage.store(published->stage.load(std::memory_order_relaxed),
                              std::memory_order_relaxed);
  published->peak_count.store(
      published->peak_count.load(std::memory_order_relaxed) + 1,
      std::memory_order_relaxed);
}

// Whether a thread has freed more than a window since it was summed: then the
// sum may be of no moment. With one other thread, it is of that of its reading.
bool SomeFreedMeanwhile(const ThreadCounters* summed_at_level)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock) {
  if (process.thread_count <= 2) return false;
  for (ThreadCounters* each = process.first_thread; each != nullptr;
       each = each->next) {
    if (each != summed_at_level &&
        LiveBytesOf(*each) < each->summed_live_bytes - kWindowBytes) {
      return true;
    }
  }
  return false;
}

// The only thread may be about to store what it computed while it was that, or
// be between reading its budget and writing what is left of it. The calling
// thread, if it is another, has no threshold yet.
void TakeBudget(ThreadCounters* counters)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock) {
  constexpr int kAttempts = 1000;
  counters->budget_bytes.store(0);
  if (counters == &thread_counters) return;
  // Another value than the one that it may be about to raise.
  const int64_t threshold_bytes = counters->threshold_bytes.exchange(INT64_MIN);
  process.peak_absolute_bytes = std::max(
      process.peak_absolute_bytes, threshold_bytes + process.ended.live_bytes);
  counters->threshold_bytes.store(threshold_bytes - 1);
  process.sum_of_thresholds = threshold_bytes - 1;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    Membarrier();
    if (counters->budget_bytes.load() == 0) return;
    counters->budget_bytes.store(0);
  }
}

}  // namespace

const uint64_t kNoBytes = 0;
// The model again, or this file's own uses lose it: the function that they
// would call may allocate (after dlopen of libraries with storage of their
// own).
__thread ThreadCounters thread_counters
    __attribute__((tls_model("initial-exec")));
ProcessCounters process;
FlagOnOwnCacheLine has_one_thread{false};

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

void SettlePeakOfOnlyThread() {
  if (!has_one_thread.load()) return;
  process.sum_of_thresholds = process.first_thread->threshold_bytes.load();
  process.peak_absolute_bytes =
      std::max(process.peak_absolute_bytes,
               process.sum_of_thresholds + process.ended.live_bytes);
}

void FindWhetherOneThread() {
  const bool is_so = process.thread_count == 1 &&
                     process.unjoined_thread_count == 0 &&
                     !process.has_unknown_threads && process.can_synchronise;
  if (is_so == has_one_thread.load()) return;
  has_one_thread.store(is_so);
  if (ChooseFreeWay != nullptr) ChooseFreeWay();
  if (is_so) {
    SetThreshold(process.first_thread,
                 process.peak_absolute_bytes - process.ended.live_bytes);
    return;
  }
  for (ThreadCounters* each = process.first_thread; each != nullptr;
       each = each->next) {
    TakeBudget(each);
  }
}

void ForceLook(ThreadCounters* counters) {
  if (counters->check_at_bytes.load() != 0) counters->check_at_bytes.store(0);
  // Another's is zero: it is not the only thread.
  if (counters == &thread_counters) counters->budget_bytes.store(0);
}

void SetThreshold(ThreadCounters* counters, int64_t threshold_bytes) {
  const int64_t before_bytes = counters->threshold_bytes.load();
  // No store that changes nothing: it would take the cache line from the
  // thread.
  if (threshold_bytes == before_bytes) return;
  process.sum_of_thresholds += threshold_bytes - before_bytes;
  counters->threshold_bytes.store(threshold_bytes);
  ForceLook(counters);
}

int64_t SumLiveBytes(const ThreadCounters* counters, int64_t level_bytes) {
  constexpr int kAttempts = 100;
  for (int attempt = 1;; ++attempt) {
    int64_t sum = process.ended.live_bytes;
    for (ThreadCounters* each = process.first_thread; each != nullptr;
         each = each->next) {
      each->summed_live_bytes =
          each == counters ? level_bytes : LiveBytesOf(*each);
      sum += each->summed_live_bytes;
    }
    if (attempt == kAttempts || !SomeFreedMeanwhile(counters)) return sum;
  }
}

void RaisePeak(int64_t sum_bytes) {
  if (sum_bytes <= process.peak_absolute_bytes) return;
  process.peak_absolute_bytes = sum_bytes;
  PublishPeak(sum_bytes);
}

// Unchecked: the only thread needs no lock, and finds out here whether it is.
bool RaisePeakOfOnlyThread(ThreadCounters* counters)
    ABSL_NO_THREAD_SAFETY_ANALYSIS {
  if (!has_one_thread.load() ||
      counters->state != ThreadCounters::State::kRegistered) {
    return false;
  }
  const int64_t live_bytes = counters->live_bytes();
  int64_t threshold_bytes = counters->threshold_bytes.load();
  if (live_bytes > threshold_bytes) {
    // Not if another has begun meanwhile and taken the threshold into account.
    if (!counters->threshold_bytes.compare_exchange_strong(threshold_bytes,
                                                           live_bytes)) {
      return false;
    }
    PublishPeak(live_bytes + process.ended.live_bytes);
  }
  if (live_bytes > counters->peak_absolute_bytes.load()) {
    counters->peak_absolute_bytes.store(live_bytes, std::memory_order_relaxed);
  }
  return has_one_thread.load();
}

void ShareHeadroom(int64_t sum_bytes) {
  const int64_t headroom_bytes = process.peak_absolute_bytes - sum_bytes;
  const int64_t share_bytes =
      has_one_thread.load()
          ? headroom_bytes
          : std::min(headroom_bytes / std::max(1, process.thread_count),
                     kWindowBytes / 2);
  for (ThreadCounters* each = process.first_thread; each != nullptr;
       each = each->next) {
    SetThreshold(each, each->summed_live_bytes + share_bytes);
  }
}

void CentreThreshold(ThreadCounters* counters) {
  const int64_t left_bytes =
      process.peak_absolute_bytes - process.ended.live_bytes -
      (process.sum_of_thresholds - counters->threshold_bytes.load());
  SetThreshold(counters,
               std::min(counters->live_bytes() + kWindowBytes / 2, left_bytes));
}

void RaiseThreshold(ThreadCounters* counters, int64_t level_bytes) {
  const int64_t others_bytes =
      process.sum_of_thresholds - counters->threshold_bytes.load();
  if (!has_one_thread.load() &&
      level_bytes + others_bytes + process.ended.live_bytes <=
          process.peak_absolute_bytes) {
    CentreThreshold(counters);
    return;
  }
  const int64_t sum_bytes = SumLiveBytes(counters, level_bytes);
  RaisePeak(sum_bytes);
  ShareHeadroom(sum_bytes);
  // A block that was live for the moment only is gone by now.
  if (level_bytes > counters->live_bytes() && !has_one_thread.load()) {
    CentreThreshold(counters);
  }
}

}  // namespace footprint::profiling_internal
