#include "footprint/profiling/heap/sample_schedule.h"

#include <atomic>
#include <cmath>

#include "footprint/base/random/random_sequence.h"

namespace footprint::profiling_internal {

namespace {

std::atomic<uint64_t> first_sample_count{0};

// Unchecked: a thread comes here after each of its samples, and one that reads
// the interval while it changes has one more sample by the old one.
void ScheduleSampleAfter(uint64_t allocated_bytes, uint64_t random,
                         ThreadCounters* counters)
    ABSL_NO_THREAD_SAFETY_ANALYSIS {
  const int64_t interval_bytes = process.sampling_interval_bytes;
  if (interval_bytes <= 0) {
    counters->sample_at_bytes = interval_bytes == 0 ? 0 : UINT64_MAX;
    return;
  }
  // The number lies in (0, 1].
  const double uniform = static_cast<double>((random >> 11) + 1) * 0x1p-53;
  const double distance =
      -std::log(uniform) * static_cast<double>(interval_bytes);
  counters->sample_at_bytes =
      allocated_bytes + 1 + static_cast<uint64_t>(distance);
}

}  // namespace

void BeginSampling(int64_t interval_bytes) {
  ProcessLock lock;
  process.sampling_interval_bytes = interval_bytes;
  if (ChooseFreeWays != nullptr) ChooseFreeWays();
  // Libraries may have started threads before this.
  for (ThreadCounters* each = process.first_thread; each != nullptr;
       each = each->next) {
    ScheduleNextSample(each);
    ForceLook(each);
  }
}

// Unchecked: the caller is the only one that writes it, so it may read it
// before the lock.
void SetHasRecordedBlocks(bool has_recorded_blocks)
    ABSL_NO_THREAD_SAFETY_ANALYSIS {
  if (process.has_recorded_blocks == has_recorded_blocks) return;
  ProcessLock lock;
  process.has_recorded_blocks = has_recorded_blocks;
  if (ChooseFreeWays != nullptr) ChooseFreeWays();
}

void ScheduleFirstSample(ThreadCounters* counters) {
  // Threads that are registered have records from 1 on.
  ScheduleSampleAfter(0, RandomAt(0, ++first_sample_count), counters);
}

void ScheduleNextSample(ThreadCounters* counters) {
  ScheduleSampleAfter(
      __atomic_load_n(counters->allocated_bytes, __ATOMIC_RELAXED),
      RandomAt(counters->record_number, ++counters->sample_number), counters);
}

}  // namespace footprint::profiling_internal
