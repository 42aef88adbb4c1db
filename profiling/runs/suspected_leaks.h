// The places of a process that may leak, by how their live bytes went on.
//
//   SetSuspectedLeaks(*process.sites, *process.growth, &calls, image);
//
// Sites of the same stack count together. Those are suspected of which
// LeakProbability is at least 3/4 and that grew by one hundredth of the
// process's peak or more. Thread-compatible. Owns nothing. Memory: 200 bytes a
// stack.

#ifndef FOOTPRINT_PROFILING_RUNS_SUSPECTED_LEAKS_H_
#define FOOTPRINT_PROFILING_RUNS_SUSPECTED_LEAKS_H_

#include "footprint/profiling/records/growth_profile.h"
#include "footprint/profiling/records/measured_run.pb.h"
#include "footprint/profiling/records/site_profile.h"
#include "footprint/profiling/runs/native_calls.h"

namespace footprint {

// The image's peak must be there already. `growth` has the sites of `profile`.
void SetSuspectedLeaks(const SiteProfile& profile, const GrowthProfile& growth,
                       NativeCalls* calls, MeasuredImage* image);

}  // namespace footprint

// Tested by //profiling/memprof:sampling_test.

#endif  // FOOTPRINT_PROFILING_RUNS_SUSPECTED_LEAKS_H_
