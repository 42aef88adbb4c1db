// Explains why a run of a measured program is not a valid measurement.
//
//   ProducerFailure failure;
//   if (!EndedWell(end, time_limit_seconds, &failure)) {
//     MakeStable({folder, executable_folder}, end, &failure);
//   }
//
// They change only `failure`, and are thread-safe for different ones. A failure
// owns its texts, which are the only memory.

#ifndef FOOTPRINT_PROFILING_MEASURING_RUN_FAILURE_H_
#define FOOTPRINT_PROFILING_MEASURING_RUN_FAILURE_H_

#include <string>
#include <vector>

#include "footprint/profiling/measuring/fresh_process.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

// Returns whether the run ended well; if not, stores the reason in `failure`.
bool EndedWell(const ProcessEnd& end, int time_limit_seconds,
               ProducerFailure* failure);

// Stores the end of the program's standard error, unless `failure` has one, and
// makes both texts the same for the same failure: without process IDs and the
// paths of `folders`.
void MakeStable(const std::vector<std::string>& folders, const ProcessEnd& end,
                ProducerFailure* failure);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_MEASURING_RUN_FAILURE_H_
