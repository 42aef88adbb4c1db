// Finds the places of a process that may leak, by the growth of their live
// bytes.
//
//   SetSuspectedLeaks(*process.sites, *process.growth, &calls, image);
//
// Sites of the same stack count together. A stack is suspected if its
// LeakProbability is at least 3/4 and it grew by at least a hundredth of the
// process's peak. Thread-compatible. Owns nothing. Memory: 300 bytes a stack.

#ifndef FOOTPRINT_PROFILING_RUNS_SUSPECTED_LEAKS_H_
#define FOOTPRINT_PROFILING_RUNS_SUSPECTED_LEAKS_H_

#include "footprint/profiling/records/growth_profile.h"
#include "footprint/profiling/records/measured_run.pb.h"
#include "footprint/profiling/records/site_profile.h"
#include "footprint/profiling/runs/native_calls.h"

namespace footprint {

// The image's peak must have been set. `growth` has the sites of `profile`.
void SetSuspectedLeaks(const SiteProfile& profile, const GrowthProfile& growth,
                       NativeCalls* calls, MeasuredImage* image);

}  // namespace footprint

// Tested by //profiling/memprof:sampling_test.

#endif  // FOOTPRINT_PROFILING_RUNS_SUSPECTED_LEAKS_H_
