// Reduces a run to its large sites, for smaller files and shorter reports.
//
//   RunThresholds thresholds;
//   thresholds.memory_percent = 1;
//   const MeasuredRun reduced = ReducedRun(run, thresholds);
//
// It keeps the call sites of each place in the code that reaches the threshold
// in one figure of its process: the peak, the bytes left at its end, the
// allocated bytes, or the processor time. All others are merged into "[below
// the threshold]", by thread and stage, so that sums stay the same. Copies of a
// place that is not kept are merged there as well. Only the bytes at the recent
// peak (SiteAmounts.at_recent_peak_bytes) are lost.
//
// Pure; thread-safe. Memory: a copy of the run, which is then reduced, and some
// bytes a call.

#ifndef FOOTPRINT_PROFILING_RUNS_REDUCED_RUN_H_
#define FOOTPRINT_PROFILING_RUNS_REDUCED_RUN_H_

#include <cstdint>

#include "footprint/profiling/records/measured_run.pb.h"

namespace footprint {

// Percentages of the whole, and a least number of bytes.
struct RunThresholds {
  double memory_percent = 0;
  int64_t memory_bytes = 0;
  double processor_percent = 0;
};

MeasuredRun ReducedRun(const MeasuredRun& run, const RunThresholds& thresholds);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RUNS_REDUCED_RUN_H_
