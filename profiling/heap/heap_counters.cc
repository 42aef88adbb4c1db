#include "footprint/profiling/heap/heap_counters.h"

#include <algorithm>

#include "footprint/profiling/heap/thread_records.h"

namespace footprint::profiling_internal {
namespace {

using State = ThreadCounters::State;

// Grants the thread what it may be handed out before it must look again. False,
// and nothing granted, if a peak may be due, or more is left to the thread than
// it may hold without the lock.
bool DelayNextLook(ThreadCounters* counters) {
  const uint64_t allocated_bytes = *counters->allocated_bytes;
  const int64_t live_bytes = counters->live_bytes();
  const int64_t peak_bytes = counters->peak_absolute_bytes.load();
  const int64_t threshold_bytes = counters->threshold_bytes.load();
  if (live_bytes > std::min(peak_bytes, threshold_bytes)) {
    ForceLook(counters);
    return false;
  }
  // Without a sign: it may be UINT64_MAX.
  const uint64_t before_sample_bytes =
      counters->sample_at_bytes > allocated_bytes
          ? counters->sample_at_bytes - allocated_bytes - 1
          : 0;
  const uint64_t headroom_bytes =
      static_cast<uint64_t>(std::min(peak_bytes, threshold_bytes) - live_bytes);
  const uint64_t budget_bytes =
      BudgetOf(std::min(headroom_bytes, before_sample_bytes));
  const bool is_only_thread = has_one_thread.load();
  if (is_only_thread) {
    counters->budget_bytes.store(budget_bytes, std::memory_order_relaxed);
    // Against the compiler; against the processor, Membarrier.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (has_one_thread.load()) return true;
  } else if (threshold_bytes - live_bytes <= kWindowBytes) {
    counters->check_at_bytes.store(allocated_bytes + budget_bytes -
                                   std::min(budget_bytes, kBytesPerCall));
    if (counters->threshold_bytes.load() == threshold_bytes &&
        counters->peak_absolute_bytes.load() == peak_bytes) {
      return true;
    }
  }
  ForceLook(counters);
  return false;
}

// `level_bytes` is the calling thread's live bytes, or more where two blocks
// were live for the moment.
void CheckLevel(ThreadCounters* counters, int64_t level_bytes) {
  if (counters->state == State::kNew) {
    RegisterThread();
    return;
  }
  if (level_bytes >
      counters->peak_absolute_bytes.load(std::memory_order_relaxed)) {
    counters->peak_absolute_bytes.store(level_bytes, std::memory_order_relaxed);
  }
  const int64_t threshold_bytes =
      counters->threshold_bytes.load(std::memory_order_relaxed);
  if (level_bytes > threshold_bytes ||
      (threshold_bytes - level_bytes > kWindowBytes &&
       !has_one_thread.load())) {
    ProcessLock lock;
    if (counters->state == State::kEnded) {
      CountAfterEnd(counters, /*is_allocation=*/true);
      return;
    }
    // Again: a phase event may have begun a new peak since the look above.
    counters->peak_absolute_bytes.store(
        std::max(counters->peak_absolute_bytes.load(), level_bytes));
    if (level_bytes > counters->threshold_bytes.load()) {
      RaiseThreshold(counters, level_bytes);
    } else if (!has_one_thread.load()) {
      CentreThreshold(counters);
    }
  }
  DelayNextLook(counters);
}

}  // namespace

void* CheckAllocation(void* block) {
  ThreadCounters* const counters = &thread_counters;
  if (!DelayNextLook(counters) && !RaisePeakOfOnlyThread(counters)) {
    CheckLevel(counters, counters->live_bytes());
  }
  return block;
}

void CountFree() {
  ThreadCounters* const counters = &thread_counters;
  if (counters->state == State::kNew) {
    RegisterThread();
    return;
  }
  if (counters->state == State::kRegistered) return;
  ProcessLock lock;
  CountAfterEnd(counters, /*is_allocation=*/false);
}

Reallocation::Reallocation() {
  if (thread_counters.state == State::kNew) RegisterThread();
  allocated_bytes_before_ = *thread_counters.allocated_bytes;
  deallocated_bytes_before_ = *thread_counters.deallocated_bytes;
}

void Reallocation::After(bool in_place, bool succeeded) {
  ThreadCounters* counters = &thread_counters;
  const int64_t handed_out_bytes = static_cast<int64_t>(
      *counters->allocated_bytes - allocated_bytes_before_);
  const int64_t taken_back_bytes = static_cast<int64_t>(
      *counters->deallocated_bytes - deallocated_bytes_before_);
  if (!succeeded) {
    // It may have freed.
    if (!ThreadIsRegistered()) CountFree();
    return;
  }
  CountCalls(1);
  if (in_place) {
    counters->kept_in_place_bytes.store(
        counters->kept_in_place_bytes.load(std::memory_order_relaxed) +
            std::min(handed_out_bytes, taken_back_bytes),
        std::memory_order_relaxed);
    CheckLevel(counters, counters->live_bytes());
  } else {
    CheckLevel(counters, counters->live_bytes() + taken_back_bytes);
  }
}

void CountMappedBytes(int64_t change_bytes) {
  ProcessLock lock;
  // The peak of what is mapped depends on the order of threads, too.
  ThreadCounters* const counters = &thread_counters;
  ++counters->mapping_count;
  ThreadRecord* const record = OwnRecord(*counters);
  if (counters->state == State::kEnded && record != nullptr) {
    UpdateNode(*counters, counters->summed_live_bytes, record);
  }
  process.mapped_bytes += change_bytes;
  process.mapped_peak_absolute_bytes =
      std::max(process.mapped_peak_absolute_bytes, process.mapped_bytes);
  if (process.published != nullptr) {
    process.published->RaiseMapped(process.mapped_bytes);
  }
}

void SetRequestedBytesCounter(const RequestedBytesCounter* counter) {
  ProcessLock lock;
  process.requested = counter;
}

}  // namespace footprint::profiling_internal
