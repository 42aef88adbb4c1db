// Tries the container limit that a run recommends, and stores the result in the
// run's needs.
//
//   TryContainerLimit(options.run, &run);
//   run.container_needs().tried();
//   // "the limit held: the program ran once more within it ..."
//   run.container_needs().held();  // true only in that case
//
// If no limit is recommended, or no control group can be made, the text says so
// and why. It has the effects of RunWithinLimit (run_within_limit.h), and never
// fails.

#ifndef FOOTPRINT_PROFILING_MEMPROF_TRY_CONTAINER_LIMIT_H_
#define FOOTPRINT_PROFILING_MEMPROF_TRY_CONTAINER_LIMIT_H_

#include "footprint/profiling/memprof/run_with_agent.h"
#include "footprint/profiling/records/measured_run.pb.h"

namespace footprint {

void TryContainerLimit(const AgentRun& agent_run, MeasuredRun* run);

}  // namespace footprint

// Tested by container_run_test.

#endif  // FOOTPRINT_PROFILING_MEMPROF_TRY_CONTAINER_LIMIT_H_
