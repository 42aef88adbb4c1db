// The run of a program that has not ended, from what its agents have recorded
// until now.
//
//   absl::StatusOr<MeasuredRun> run =
//       ReadRunSoFar("/tmp/memprof-Jq3/1234.0.record");
//
// The reports take such a run as any other. Figures that are known only to the
// launcher or at the end of a process are missing: the container's needs, the
// user and system time and the totals. The wall time is that up to now.
//
// Copies what it reads. Thread-safe. Memory and time: those of
// measured_images.h. Errors: those of measured_process.h, and kNotFound if
// no process has begun to record.

#ifndef FOOTPRINT_PROFILING_LIVE_VIEW_RUN_SO_FAR_H_
#define FOOTPRINT_PROFILING_LIVE_VIEW_RUN_SO_FAR_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/profiling/records/measured_process.h"
#include "footprint/profiling/records/measured_run.pb.h"

namespace footprint {

// Returns whether a path has the name of an agent's record.
bool IsAgentsRecord(absl::string_view path);

// Reads the record of one process image.
absl::StatusOr<MeasuredRun> ReadRunSoFar(const std::string& record_path);

// Returns the run of processes that were read a moment ago, the program's own
// first.
MeasuredRun MakeRunSoFar(std::vector<MeasuredProcess> processes);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_LIVE_VIEW_RUN_SO_FAR_H_
