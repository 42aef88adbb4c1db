// Writes a run in pprof's format, which flame-graph viewers also read.
//
//   absl::StatusOr<std::string> bytes = PprofReport(run);
//   absl::Status status = ReplaceFile("run.pb.gz", *bytes, ToDisk::kFlush);
//   // go tool pprof -sample_index=peak_space -top run.pb.gz
//
// Sample types, by stack of calls:
//   peak_space, peak_objects    live at the process's peak
//   alloc_space, alloc_objects  allocated in all
//   inuse_space                 live at the process's end
// Figures are estimates if call sites were sampled; they are scaled like those
// of the other reports. Labels: process (its number and command), thread,
// stage. Processes without call sites have no samples.
//
// Pure: the bytes are copies. Thread-safe. Memory: the profile and its bytes.
// Errors: kFailedPrecondition if no process has call sites. Source: the
// format's public description, google/pprof.

#ifndef FOOTPRINT_PROFILING_REPORTS_PPROF_REPORT_H_
#define FOOTPRINT_PROFILING_REPORTS_PPROF_REPORT_H_

#include <string>

#include "absl/status/statusor.h"
#include "footprint/profiling/records/measured_run.pb.h"

namespace footprint {

absl::StatusOr<std::string> PprofReport(const MeasuredRun& run);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_REPORTS_PPROF_REPORT_H_
