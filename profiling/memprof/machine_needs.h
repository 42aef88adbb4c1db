// Adds to a run what it needs of the machine: the parts of each process's
// resident set, graphics memory, and the limit of a container.
//
//   AddMeasuredImages(end.processes, &run);
//   AddMachineNeeds(end, &run);
//
// Call it after the run's images were added, which it completes. It changes
// only the run; thread-safe for different runs. Memory: the run's.

#ifndef FOOTPRINT_PROFILING_MEMPROF_MACHINE_NEEDS_H_
#define FOOTPRINT_PROFILING_MEMPROF_MACHINE_NEEDS_H_

#include "footprint/profiling/memprof/run_with_agent.h"
#include "footprint/profiling/records/measured_run.pb.h"

namespace footprint {

void AddMachineNeeds(const AgentRunEnd& end, MeasuredRun* run);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_MEMPROF_MACHINE_NEEDS_H_
