#include "footprint/profiling/heap/sample_schedule.h"

#include <cmath>

#include "footprint/base/random/random_sequence.h"

namespace footprint::profiling_internal {

void BeginSampling(int64_t interval_bytes) {
  ThreadCounters* const counters = &thread_counters;
  {
    ProcessLock lock;
    process.sampling_interval_bytes = interval_bytes;
    if (ChooseFreeWay != nullptr) ChooseFreeWay();
  }
  ScheduleNextSample(counters);
  ForceLook(counters);
}

void ScheduleNextSample(ThreadCounters* counters) {
  const int64_t interval_bytes = process.sampling_interval_bytes;
  if (interval_bytes <= 0) {
    counters->sample_at_bytes = interval_bytes == 0 ? 0 : UINT64_MAX;
    return;
  }
  // Of (0, 1].
  const double uniform =
      static_cast<double>(
          (RandomAt(counters->record_number, ++counters->sample_number) >> 11) +
          1) *
      0x1p-53;
  const double distance =
      -std::log(uniform) * static_cast<double>(interval_bytes);
  counters->sample_at_bytes =
      *counters->allocated_bytes + 1 + static_cast<uint64_t>(distance);
}

}  // namespace footprint::profiling_internal
