// The processes that the agents recorded, as parts of a run: names found,
// stacks in one forest.
//
//   MeasuredRun run;
//   AddMeasuredImages(*ReadRecords(folder), &run);
//
// A run gets its processes once. Copies what the processes hold, which may end
// before the run. Thread-safe. Memory: the run, and of each object, what of its
// debug information was read. Time: the symbolizer's, up to a second an object.

#ifndef FOOTPRINT_PROFILING_RUNS_MEASURED_IMAGES_H_
#define FOOTPRINT_PROFILING_RUNS_MEASURED_IMAGES_H_

#include <cstdint>
#include <vector>

#include "footprint/profiling/records/measured_process.h"
#include "footprint/profiling/records/measured_run.pb.h"

namespace footprint {

void AddMeasuredImages(const std::vector<MeasuredProcess>& processes,
                       MeasuredRun* run);

// Heap bytes that the process itself needed: of a fork, those beyond its
// parent's.
inline int64_t OwnPeakBytes(const MeasuredImage& image) {
  return image.peak_live_bytes() - image.inherited_live_bytes();
}

// The most that all processes had resident at once: pages that they share count
// once, and of a record that does not tell of it, once a process. 0: not known.
int64_t ResidentTogetherBytes(const MeasuredRun& run);

// The image with the highest own peak, which the reports are about; null where
// nothing was measured.
const MeasuredImage* LargestImage(const MeasuredRun& run);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RUNS_MEASURED_IMAGES_H_
