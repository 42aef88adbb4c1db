// Tells who held the live bytes at moments of a process's life.
//
//   SetMoments(*process.sites, *process.growth, &calls, image);
//   image->moments(3).time_ns();   // what was live then ...
//   image->moments(3).calls(0);    // ... in blocks of this call
//   image->moments(3).bytes(0);    // ... is so much
//
// The moments are the begins of the windows in which the agent follows the
// sites (growth_record.h): 12 to 24 in a longer run, at equal distances of the
// time in which the process was active. Sites of one stack of calls are one;
// sites without a figure are left out. Pure, but for calls that are found for
// the first time; thread-compatible. Memory: 12 bytes a call and moment.

#ifndef FOOTPRINT_PROFILING_RUNS_LIVE_MOMENTS_H_
#define FOOTPRINT_PROFILING_RUNS_LIVE_MOMENTS_H_

#include "footprint/profiling/records/growth_profile.h"
#include "footprint/profiling/records/measured_run.pb.h"
#include "footprint/profiling/records/site_profile.h"
#include "footprint/profiling/runs/native_calls.h"

namespace footprint {

void SetMoments(const SiteProfile& profile, const GrowthProfile& growth,
                NativeCalls* calls, MeasuredImage* image);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RUNS_LIVE_MOMENTS_H_
