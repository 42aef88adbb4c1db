// A run as JSON, for programs to read.
//
//   absl::Status status = ReplaceFile("run.json", JsonReport(end, program));
//
// Figures are exact bytes and nanoseconds; what was not measured is left out.
// {"program": [...], "exit_status": 0, "wall_time_ns": ...,
//  "peak_resident_sum_bytes": ..., "processes": [{"process_id": ...,
//  "peak_live_bytes": ..., "sites": [{"function": ..., "at_peak_bytes": ...}],
//  "timeline": [[time_ns, live_bytes], ...]}]}
//
// Pure but for the objects that symbols are read from. Memory: the text,
// thrice.

#ifndef FOOTPRINT_PROFILING_MEMPROF_JSON_REPORT_H_
#define FOOTPRINT_PROFILING_MEMPROF_JSON_REPORT_H_

#include <string>
#include <vector>

#include "footprint/profiling/memprof/run_with_agent.h"

namespace footprint {

std::string JsonReport(const AgentRunEnd& end,
                       const std::vector<std::string>& program);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_MEMPROF_JSON_REPORT_H_
