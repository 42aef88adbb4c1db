// Why a run of a measured program is no measurement.
//
//   ProducerFailure failure;
//   if (!EndedWell(end, time_limit_seconds, &failure)) {
//     MakeStable({folder, executable_folder}, end, &failure);
//   }
//
// Pure functions, thread-safe; a failure owns its texts, which are all the
// memory.

#ifndef FOOTPRINT_PROFILING_MEASURING_RUN_FAILURE_H_
#define FOOTPRINT_PROFILING_MEASURING_RUN_FAILURE_H_

#include <string>
#include <vector>

#include "footprint/profiling/measuring/fresh_process.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

// Returns whether it ended well; if not, why, in `failure`.
bool EndedWell(const ProcessEnd& end, int time_limit_seconds,
               ProducerFailure* failure);

// The program's last words, and texts that are the same whenever the failure
// is: without the numbers of processes and the paths of `folders`.
void MakeStable(const std::vector<std::string>& folders, const ProcessEnd& end,
                ProducerFailure* failure);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_MEASURING_RUN_FAILURE_H_
