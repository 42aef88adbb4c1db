// Adds the processes that the agents recorded to a run. It resolves names and
// puts all stacks into one forest.
//
//   MeasuredRun run;
//   AddMeasuredImages(*ReadRecords(folder), &run);
//
// Add processes to a run only once. Copies the processes' data, so they may be
// destroyed before the run. Thread-safe. Memory: the run, and for each object
// the debug information that was read. Time: the symbolizer's, up to a second
// an object.

#ifndef FOOTPRINT_PROFILING_RUNS_MEASURED_IMAGES_H_
#define FOOTPRINT_PROFILING_RUNS_MEASURED_IMAGES_H_

#include <cstdint>
#include <vector>

#include "footprint/profiling/records/measured_process.h"
#include "footprint/profiling/records/measured_run.pb.h"

namespace footprint {

void AddMeasuredImages(const std::vector<MeasuredProcess>& processes,
                       MeasuredRun* run);

// Returns the peak of the process's own heap bytes; for a fork, the bytes above
// its parent's.
inline int64_t OwnPeakBytes(const MeasuredImage& image) {
  return image.peak_live_bytes() - image.inherited_live_bytes();
}

// Returns the most bytes that all processes had resident at once. Shared pages
// count once, or once per process if the record does not show which are shared.
// Returns 0 if unknown.
int64_t ResidentTogetherBytes(const MeasuredRun& run);

// Returns the image with the highest own peak, which the reports are about;
// null if nothing was measured.
const MeasuredImage* LargestImage(const MeasuredRun& run);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RUNS_MEASURED_IMAGES_H_
