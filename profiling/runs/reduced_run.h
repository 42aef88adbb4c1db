// A run with its large sites alone: smaller files, shorter reports.
//
//   RunThresholds thresholds;
//   thresholds.memory_share = 0.01;
//   const MeasuredRun reduced = ReducedRun(run, thresholds);
//
// Kept are the call sites of each place in the code that has as much as the
// threshold of its process's peak, of what it left at its end or allocated, or
// of its processor time. All others are put together as
// "[below the threshold]", by thread and stage, so that sums stay what they
// were. Copies of a place that is not kept go the same way.
//
// Pure; thread-safe. Memory: the reduced run and some bytes a call.

#ifndef FOOTPRINT_PROFILING_RUNS_REDUCED_RUN_H_
#define FOOTPRINT_PROFILING_RUNS_REDUCED_RUN_H_

#include <cstdint>

#include "footprint/profiling/records/measured_run.pb.h"

namespace footprint {

// 0 to 1; and bytes, in addition.
struct RunThresholds {
  double memory_share = 0;
  int64_t memory_bytes = 0;
  double processor_share = 0;
};

MeasuredRun ReducedRun(const MeasuredRun& run, const RunThresholds& thresholds);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RUNS_REDUCED_RUN_H_
