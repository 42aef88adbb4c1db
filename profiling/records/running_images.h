// Tells which of the recorded images run, and which became another by exec.
//
//   std::vector<MeasuredProcess> processes = *ReadRecords(folder);
//   MarkRunning(&processes);
//   processes[0].figures.end();   // RUNS_ON, if it has not ended
//
// A record alone does not tell a process that runs from one that was killed:
// look soon after the records were read. Thread-safe for vectors of their own.
// Time: a call of the kernel for each image without an end. No errors.

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
// also of one that belongs to another user.
void MarkRunning(std::vector<MeasuredProcess>* processes);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RECORDS_RUNNING_IMAGES_H_
