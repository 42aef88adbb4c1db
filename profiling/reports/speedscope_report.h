// Writes a run's call stacks for speedscope (https://www.speedscope.app), which
// shows them as flame graphs.
//
//   absl::StatusOr<std::string> json = SpeedscopeReport(run);
//
// The file has a profile for each process and measure: bytes at the peak,
// allocated bytes, and, if the process's end was seen, bytes left at exit. Each
// stack is a sample weighted by its bytes. Samples have no times, so they are
// sorted by stack, as in a tree of calls. The format is
// https://www.speedscope.app/file-format-schema.json.
//
// Returns FailedPrecondition if no call sites were recorded. Pure; thread-safe.
// Memory: four times the text. Time: linear in the frames and in the calls of
// all stacks.

#ifndef FOOTPRINT_PROFILING_REPORTS_SPEEDSCOPE_REPORT_H_
#define FOOTPRINT_PROFILING_REPORTS_SPEEDSCOPE_REPORT_H_

#include <string>

#include "absl/status/statusor.h"
#include "footprint/profiling/records/measured_run.pb.h"

namespace footprint {

absl::StatusOr<std::string> SpeedscopeReport(const MeasuredRun& run);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_REPORTS_SPEEDSCOPE_REPORT_H_
