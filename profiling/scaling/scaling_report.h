// Reports the memory that programs need over their variables, for people and
// for programs: the shares and bytes of peak and volume, stage by stage, and
// the laws.
//
//   std::cout << ScalingText(runs);
//   absl::Status status =
//       ReplaceFile("scaling.html", ScalingPage(runs), ToDisk::kFlush);
//
// JSON: {"variables": ["rows"], "runs": [{"program": ..., "values": ["1000"],
// "peak_bytes": ..., "volume_bytes": ..., "resident_bytes": ..., "stages":
// [{"name": ..., "peak_bytes": ..., "volume_bytes": ...}]} or {"program",
// "values", "failure"}], "laws": [{"program": ..., "stage": ..., "figure":
// "peak", "text": "8 B x rows", "terms": [{"coefficient": 8, "factors":
// ["rows"]}], "worst_error": 0.01, "left_out_error": 0.02,
// "largest_size_error": 0.02}]}. A term also has "up_to_power_of_two": true or
// "times_logarithm": true if it grows so. An unknown figure is null. If there
// is no law, its text is null, and terms and errors are left out.
//
// Pure; thread-safe. Memory and time: linear in the runs, plus the fits.

#ifndef FOOTPRINT_PROFILING_SCALING_SCALING_REPORT_H_
#define FOOTPRINT_PROFILING_SCALING_SCALING_REPORT_H_

#include <string>

#include "footprint/profiling/scaling/scaled_runs.h"

namespace footprint {

// Return the report as text, as an HTML page, and as JSON.
std::string ScalingText(const ScaledRuns& runs);
std::string ScalingPage(const ScaledRuns& runs);
std::string ScalingJson(const ScaledRuns& runs);

}  // namespace footprint

// Tested by scaled_runs_test.

#endif  // FOOTPRINT_PROFILING_SCALING_SCALING_REPORT_H_
