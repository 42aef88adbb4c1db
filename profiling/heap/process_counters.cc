#include "footprint/profiling/heap/process_counters.h"

#include "footprint/base/memory/membarrier.h"
#include "footprint/profiling/heap/coarse_time.h"

namespace footprint::profiling_internal {
namespace {

// The error that each thread may add to a sum of live bytes.
constexpr uint64_t kSumToleranceBytes = 4096;
// More bytes than a thread can have live.
constexpr int64_t kBelowAllBytes = int64_t{1} << 45;

// Reads the live bytes of a thread that may be running, at one moment. Returns
// whether it has allocated since the last call.
bool ReadLiveBytes(ThreadCounters* counters)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock) {
  constexpr int kAttempts = 1000;
  const uint64_t before_bytes = counters->summed_allocated_bytes;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    counters->summed_allocated_bytes =
        __atomic_load_n(counters->summed_allocated_from, __ATOMIC_ACQUIRE);
    counters->summed_deallocated_bytes =
        __atomic_load_n(counters->summed_deallocated_from, __ATOMIC_ACQUIRE);
    counters->summed_live_bytes = static_cast<int64_t>(
        counters->summed_allocated_bytes - counters->summed_deallocated_bytes);
    if (__atomic_load_n(counters->summed_allocated_from, __ATOMIC_ACQUIRE) ==
        counters->summed_allocated_bytes) {
      return counters->summed_allocated_bytes != before_bytes;
    }
  }
  counters->summed_live_bytes =
      std::min(counters->live_bytes(), counters->threshold_bytes.load());
  return true;
}

void PublishRecentPeak(PublishedHeap* published, int64_t sum_bytes) {
  if (sum_bytes <=
      published->recent_peak_live_bytes.load(std::memory_order_relaxed)) {
    return;
  }
  published->recent_peak_live_bytes.store(sum_bytes, std::memory_order_relaxed);
  published->recent_peak_count.store(
      published->recent_peak_count.load(std::memory_order_relaxed) + 1,
      std::memory_order_relaxed);
}

void PublishPeak(int64_t sum_bytes) {
  PublishedHeap* const published = process.published;
  if (published == nullptr) return;
  PublishRecentPeak(published, sum_bytes);
  if (sum_bytes <= published->peak_live_bytes.load(std::memory_order_relaxed)) {
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

// Returns whether more than one other thread is registered. With one other
// thread, a sum is exact at the moment of its reading.
bool SeveralOthersRun() ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock) {
  const bool is_registered =
      thread_counters.state == ThreadCounters::State::kRegistered;
  return process.thread_count - (is_registered ? 1 : 0) > 1;
}

// Returns whether a thread has freed so much since it was read that the sum is
// no longer right for this moment.
bool SomeFreedMeanwhile() ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock) {
  for (const ThreadCounters* each = process.first_thread; each != nullptr;
       each = each->next) {
    if (__atomic_load_n(each->summed_deallocated_from, __ATOMIC_ACQUIRE) -
            each->summed_deallocated_bytes >
        kSumToleranceBytes) {
      return true;
    }
  }
  return false;
}

// Makes every other thread wait for the lock at its next allocation.
void HoldOthers() ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock) {
  for (ThreadCounters* each = process.first_thread; each != nullptr;
       each = each->next) {
    each->threshold_before_hold_bytes = each->threshold_bytes.load();
    if (each != &thread_counters) {
      SetThreshold(each, each->threshold_before_hold_bytes - kBelowAllBytes);
    }
  }
}

void ReleaseOthers() ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock) {
  for (ThreadCounters* each = process.first_thread; each != nullptr;
       each = each->next) {
    SetThreshold(each, each->threshold_before_hold_bytes);
  }
}

struct LiveSum {
  int64_t bytes;
  // Whether some thread allocated since the last sum.
  bool some_allocated;
};

LiveSum ReadAll(const ThreadCounters* counters, int64_t level_bytes)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock) {
  LiveSum sum = {process.ended.live_bytes, false};
  for (ThreadCounters* each = process.first_thread; each != nullptr;
       each = each->next) {
    sum.some_allocated |= ReadLiveBytes(each);
    if (each == counters) each->summed_live_bytes = level_bytes;
    sum.bytes += each->summed_live_bytes;
  }
  return sum;
}

// Returns the sum while the other threads wait. Each thread finishes at most
// one allocation. If none did between two readings, all bytes that threads
// freed meanwhile were live together at the start.
int64_t SumWithOthersHeld(const ThreadCounters* counters, int64_t level_bytes)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock) {
  HoldOthers();
  LiveSum sum = ReadAll(counters, level_bytes);
  do {
    sum = ReadAll(counters, level_bytes);
  } while (sum.some_allocated && SomeFreedMeanwhile());
  ReleaseOthers();
  return sum.bytes;
}

// Ends the grants of a thread that was the only one. That thread may be about
// to store a value that it computed while it was alone, or be between reading
// its budget and writing the rest back. The calling thread, if it is another,
// has no threshold yet.
void TakeBudget(ThreadCounters* counters)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock) {
  constexpr int kAttempts = 1000;
  counters->budget_bytes.store(0);
  if (counters == &thread_counters) return;
  // The value differs from the one that the thread may be about to raise.
  const int64_t threshold_bytes = counters->threshold_bytes.exchange(INT64_MIN);
  process.peak_absolute_bytes = std::max(
      process.peak_absolute_bytes, threshold_bytes + process.ended.live_bytes);
  counters->threshold_bytes.store(threshold_bytes - 1);
  process.sum_of_thresholds = threshold_bytes - 1;
  if (counters->check_at_bytes.load() != 0) counters->check_at_bytes.store(0);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    Membarrier();
    if (counters->budget_bytes.load() == 0) return;
    counters->budget_bytes.store(0);
  }
}

}  // namespace

const uint64_t kNoBytes = 0;
// The TLS model stands here again, since otherwise this file's own uses lose
// it. They would call a function that may allocate (after dlopen of libraries
// with thread-local storage).
__thread ThreadCounters thread_counters
    __attribute__((tls_model("initial-exec")));
ProcessCounters process;
FlagOnOwnCacheLine has_one_thread{false};
__thread volatile bool uses_process_lock
    __attribute__((tls_model("initial-exec"))) = false;

void LockProcess() {
  uses_process_lock = true;
  process.lock.Lock();
  SettlePeakOfOnlyThread();
}

void UnlockProcess() {
  process.lock.Unlock();
  uses_process_lock = false;
}

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
  if (ChooseFreeFunctions != nullptr) ChooseFreeFunctions();
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
  // Another thread's budget is zero, because it is not the only thread.
  if (counters == &thread_counters) counters->budget_bytes.store(0);
}

void SetThreshold(ThreadCounters* counters, int64_t threshold_bytes) {
  const int64_t before_bytes = counters->threshold_bytes.load();
  // A store without a change would take the cache line away from the thread.
  if (threshold_bytes == before_bytes) return;
  process.sum_of_thresholds += threshold_bytes - before_bytes;
  counters->threshold_bytes.store(threshold_bytes);
  ForceLook(counters);
}

int64_t SumLiveBytes(const ThreadCounters* counters, int64_t level_bytes) {
  constexpr int kAttempts = 20;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const LiveSum sum = ReadAll(counters, level_bytes);
    if (!SeveralOthersRun() || !SomeFreedMeanwhile()) return sum.bytes;
  }
  return SumWithOthersHeld(counters, level_bytes);
}

void RaisePeak(int64_t sum_bytes) {
  if (sum_bytes <= process.peak_absolute_bytes) return;
  process.peak_absolute_bytes = sum_bytes;
  PublishPeak(sum_bytes);
}

// Unchecked: the only thread needs no lock, and this function tests whether it
// is the only one.
bool RaisePeakOfOnlyThread(ThreadCounters* counters)
    ABSL_NO_THREAD_SAFETY_ANALYSIS {
  if (!has_one_thread.load() ||
      counters->state != ThreadCounters::State::kRegistered) {
    return false;
  }
  const int64_t live_bytes = counters->live_bytes();
  int64_t threshold_bytes = counters->threshold_bytes.load();
  if (live_bytes > threshold_bytes) {
    // It fails if another thread has begun meanwhile and has used the
    // threshold.
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
      headroom_bytes / std::max(1, process.thread_count);
  for (ThreadCounters* each = process.first_thread; each != nullptr;
       each = each->next) {
    SetThreshold(each, each->summed_live_bytes + share_bytes);
  }
}

void RaiseThreshold(ThreadCounters* counters, int64_t level_bytes) {
  const int64_t left_by_others_bytes =
      process.peak_absolute_bytes - process.ended.live_bytes -
      (process.sum_of_thresholds - counters->threshold_bytes.load());
  if (!has_one_thread.load() && level_bytes <= left_by_others_bytes) {
    SetThreshold(counters, left_by_others_bytes);
    return;
  }
  const int64_t sum_bytes = SumLiveBytes(counters, level_bytes);
  RaisePeak(sum_bytes);
  ShareHeadroom(sum_bytes);
}

}  // namespace footprint::profiling_internal
