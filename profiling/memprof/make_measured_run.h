// Makes the one value that all reports read, from the end of a run.
//
//   absl::StatusOr<AgentRunEnd> end = RunWithAgent(agent_run);
//   const MeasuredRun run = MakeMeasuredRun(agent_run, *end);
//   std::cerr << TextReport(run);
//
// Names are resolved here, once, so the program's objects must still exist. The
// run has copies of everything. Thread-safe. Memory and time: those of
// AddMeasuredImages.

#ifndef FOOTPRINT_PROFILING_MEMPROF_MAKE_MEASURED_RUN_H_
#define FOOTPRINT_PROFILING_MEMPROF_MAKE_MEASURED_RUN_H_

#include "footprint/profiling/memprof/run_with_agent.h"
#include "footprint/profiling/records/measured_run.pb.h"

namespace footprint {

MeasuredRun MakeMeasuredRun(const AgentRun& agent_run, const AgentRunEnd& end);

}  // namespace footprint

// Tested by memprof_test.

#endif  // FOOTPRINT_PROFILING_MEMPROF_MAKE_MEASURED_RUN_H_
