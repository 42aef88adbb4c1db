#include "footprint/profiling/heap/heap_counters.h"

#include <algorithm>

#include "footprint/profiling/heap/thread_records.h"

namespace footprint::profiling_internal {
namespace {

using State = ThreadCounters::State;

// Checks the calling thread's live bytes against its peak and threshold.
// `level_bytes` may be more than its live bytes if two blocks were live for a
// moment.
void CheckLevel(ThreadCounters* counters, int64_t level_bytes) {
  if (counters->state == State::kNew) {
    RegisterThread();
    return;
  }
  if (level_bytes >
      counters->peak_absolute_bytes.load(std::memory_order_relaxed)) {
    counters->peak_absolute_bytes.store(level_bytes, std::memory_order_relaxed);
  }
  if (level_bytes > counters->threshold_bytes.load(std::memory_order_relaxed)) {
    ProcessLock lock;
    if (counters->state == State::kEnded) {
      CountAfterEnd(counters, /*is_allocation=*/true);
      return;
    }
    // The peak is raised again: a phase event may have begun a new one since
    // the check above.
    counters->peak_absolute_bytes.store(
        std::max(counters->peak_absolute_bytes.load(), level_bytes));
    if (level_bytes > counters->threshold_bytes.load()) {
      RaiseThreshold(counters, level_bytes);
    }
  }
  DelayNextLook(counters);
}

// Works like DelayNextLook, for entry points that know after each call how many
// bytes it returned. So a check is due only when the room is used up to the
// byte, and the only thread needs no budget.
bool DelayNextCountedLook(ThreadCounters* counters) {
  const uint64_t allocated_bytes = *counters->allocated_bytes;
  const int64_t live_bytes = counters->live_bytes();
  const int64_t peak_bytes = counters->peak_absolute_bytes.load();
  const int64_t threshold_bytes = counters->threshold_bytes.load();
  const int64_t top_bytes = std::min(peak_bytes, threshold_bytes);
  const uint64_t sample_at_bytes = counters->sample_at_bytes;
  if (live_bytes <= top_bytes && allocated_bytes < sample_at_bytes) {
    counters->check_at_bytes.store(
        allocated_bytes +
        std::min(static_cast<uint64_t>(top_bytes - live_bytes),
                 sample_at_bytes - allocated_bytes - 1));
    // A thread that changes one of them later forces a check.
    if (counters->threshold_bytes.load() == threshold_bytes &&
        counters->peak_absolute_bytes.load() == peak_bytes) {
      return true;
    }
  }
  ForceLook(counters);
  return false;
}

}  // namespace

void CheckCountedAllocation() {
  ThreadCounters* const counters = &thread_counters;
  if (!DelayNextCountedLook(counters) && !RaisePeakOfOnlyThread(counters)) {
    CheckLevel(counters, counters->live_bytes());
  }
}

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
  if (!succeeded) {
    // A failed realloc may have freed.
    if (!ThreadIsRegistered()) CountFree();
    return;
  }
  CountCalls(1);
  if (in_place) {
    counters->kept_in_place_bytes.store(
        counters->kept_in_place_bytes.load(std::memory_order_relaxed) +
            std::min(handed_out_bytes, taken_back_bytes()),
        std::memory_order_relaxed);
    CheckLevel(counters, counters->live_bytes());
  } else {
    CheckLevel(counters, counters->live_bytes() + taken_back_bytes());
  }
}

void CountMappedBytes(int64_t change_bytes) {
  ProcessLock lock;
  // The peak of mapped bytes also depends on the order of threads.
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
