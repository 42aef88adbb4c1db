#include "footprint/profiling/heap/sample_schedule.h"

#include <cmath>

namespace footprint::profiling_internal {
namespace {

// G. Marsaglia's xorshift64*: of (0, 1].
double NextUniform(uint64_t* state) {
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return static_cast<double>((*state * 0x2545f4914f6cdd1d >> 11) + 1) * 0x1p-53;
}

}  // namespace

void BeginSampling(int64_t interval_bytes) {
  ThreadCounters* const counters = &thread_counters;
  {
    ProcessLock lock;
    process.sampling_interval_bytes = interval_bytes;
  }
  ScheduleNextSample(counters);
  counters->check_at_bytes.store(0);
}

void ScheduleNextSample(ThreadCounters* counters) {
  const int64_t interval_bytes = process.sampling_interval_bytes;
  if (interval_bytes <= 0) {
    counters->sample_at_bytes = interval_bytes == 0 ? 0 : UINT64_MAX;
    return;
  }
  if (counters->sample_random_state == 0) {
    counters->sample_random_state =
        (counters->record_number + 1) * 0x9e3779b97f4a7c15;
  }
  const double distance =
      -std::log(NextUniform(&counters->sample_random_state)) *
      static_cast<double>(interval_bytes);
  counters->sample_at_bytes =
      *counters->allocated_bytes + 1 + static_cast<uint64_t>(distance);
}

}  // namespace footprint::profiling_internal
