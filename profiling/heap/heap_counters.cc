#include "footprint/profiling/heap/heap_counters.h"

#include <algorithm>

#include "footprint/profiling/heap/thread_records.h"

namespace footprint::profiling_internal {
namespace {

using State = ThreadCounters::State;

// Computes how much the only thread may allocate before it must be looked at
// again.
void DelayNextCheck(ThreadCounters* counters) {
  while (!counters->has_lower_threshold.load()) {
    const int64_t upper_threshold_bytes =
        counters->upper_threshold_bytes.load();
    const int64_t headroom_bytes =
        std::min(upper_threshold_bytes, counters->peak_absolute_bytes.load()) -
        counters->live_bytes();
    counters->check_at_bytes.store(
        std::min(
            counters->sample_at_bytes,
            *counters->allocated_bytes + 1 +
                static_cast<uint64_t>(std::max<int64_t>(0, headroom_bytes))),
        std::memory_order_relaxed);
    // Against the compiler; against the processor, Membarrier.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (counters->upper_threshold_bytes.load() == upper_threshold_bytes &&
        !counters->has_lower_threshold.load()) {
      return;
    }
  }
  counters->check_at_bytes.store(0, std::memory_order_relaxed);
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
  if (level_bytes >
      counters->upper_threshold_bytes.load(std::memory_order_relaxed)) {
    ProcessLock lock;
    if (counters->state == State::kEnded) {
      CountAfterEnd(counters, /*is_allocation=*/true);
      return;
    }
    counters->thresholds_are_pending = false;
    // Again: a phase event may have begun a new peak since the look above.
    counters->peak_absolute_bytes.store(
        std::max(counters->peak_absolute_bytes.load(), level_bytes));
    RaiseThresholds(counters, level_bytes);
  }
  if (!counters->has_lower_threshold.load(std::memory_order_relaxed)) {
    DelayNextCheck(counters);
  }
}

}  // namespace

void* CheckAllocation(void* block) {
  CheckLevel(&thread_counters, thread_counters.live_bytes());
  return block;
}

void FreedBelowLowerThreshold() {
  ThreadCounters* counters = &thread_counters;
  if (counters->state == State::kNew) {
    RegisterThread();
    return;
  }
  ProcessLock lock;
  if (counters->state == State::kEnded) {
    CountAfterEnd(counters, /*is_allocation=*/false);
  } else if (!OneThreadIsAlone()) {
    counters->thresholds_are_pending = false;
    CentreThresholds(counters);
  }
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
  if (succeeded && in_place) {
    counters->kept_in_place_bytes.store(
        counters->kept_in_place_bytes.load(std::memory_order_relaxed) +
            std::min(handed_out_bytes, taken_back_bytes),
        std::memory_order_relaxed);
    AfterAllocation(nullptr);
  } else if (succeeded) {
    CountCall(counters);
    CheckLevel(counters, counters->live_bytes() + taken_back_bytes);
  }
  AfterDeallocation();
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
