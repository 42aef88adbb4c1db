#include "footprint/profiling/heap/sample_schedule.h"

#include <atomic>
#include <cmath>

#include "footprint/base/random/random_sequence.h"

namespace footprint::profiling_internal {

namespace {

std::atomic<uint64_t> first_sample_count{0};

// Unchecked: a thread comes here after each of its samples. One that reads the
// interval while it changes has one more sample with the old interval.
void ScheduleSampleAfter(uint64_t allocated_bytes, uint64_t random,
                         ThreadCounters* counters)
    ABSL_NO_THREAD_SAFETY_ANALYSIS {
  const int64_t interval_bytes = process.sampling_interval_bytes;
  if (interval_bytes <= 0) {
    counters->sample_at_bytes = interval_bytes == 0 ? 0 : UINT64_MAX;
    return;
  }
  // `uniform` lies in (0, 1].
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
  if (ChooseFreeFunctions != nullptr) ChooseFreeFunctions();
  // Libraries may have started threads before this call.
  for (ThreadCounters* each = process.first_thread; each != nullptr;
       each = each->next) {
    ScheduleNextSample(each);
    ForceLook(each);
  }
}

// Unchecked: the caller is the only one that writes the value, so it may read
// it before it takes the lock.
void SetHasRecordedBlocks(bool has_recorded_blocks)
    ABSL_NO_THREAD_SAFETY_ANALYSIS {
  if (process.has_recorded_blocks == has_recorded_blocks) return;
  ProcessLock lock;
  process.has_recorded_blocks = has_recorded_blocks;
  if (ChooseFreeFunctions != nullptr) ChooseFreeFunctions();
}

void ScheduleFirstSample(ThreadCounters* counters) {
  // Record numbers of registered threads start from 1.
  ScheduleSampleAfter(0, RandomAt(0, ++first_sample_count), counters);
}

void ScheduleNextSample(ThreadCounters* counters) {
  ScheduleSampleAfter(
      __atomic_load_n(counters->allocated_bytes, __ATOMIC_RELAXED),
      RandomAt(counters->record_number, ++counters->sample_number), counters);
}

}  // namespace footprint::profiling_internal
