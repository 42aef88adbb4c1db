// Tells which of the recorded images still run, and which became another one by
// exec.
//
//   std::vector<MeasuredProcess> processes = *ReadRecords(folder);
//   MarkRunning(&processes);
//   processes[0].figures.end();   // RUNS_ON, if it has not ended
//
// A record alone does not distinguish a process that runs from one that was
// killed, so call MarkRunning soon after the records were read: later, another
// process may have the same ID. Thread-safe if each thread has its own vector.
// Time: for each image without an end, a call of the kernel, a file of /proc
// and a look at all images. No errors.

#ifndef FOOTPRINT_PROFILING_RECORDS_RUNNING_IMAGES_H_
#define FOOTPRINT_PROFILING_RECORDS_RUNNING_IMAGES_H_

#include <vector>

#include "footprint/profiling/records/measured_process.h"
#include "footprint/profiling/records/measured_run.pb.h"

namespace footprint {

// Returns whether the image's process became another one of `processes`.
bool BecameAnother(const MeasuredImage& image,
                   const std::vector<MeasuredProcess>& processes);

// Sets the end RUNS_ON for the last image of each process that has not ended,
// also of one that belongs to another user. A process that its parent has not
// waited for yet has ended.
void MarkRunning(std::vector<MeasuredProcess>* processes);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RECORDS_RUNNING_IMAGES_H_
