// Finds which calls held the live bytes at moments of a process's life.
//
//   SetMoments(*process.sites, *process.growth, &calls, image);
//   image->moments(3).time_ns();   // the time of the moment
//   image->moments(3).calls(0);    // a call whose blocks were live then
//   image->moments(3).bytes(0);    // the bytes of these blocks
//
// A moment is the beginning of a window of the agent's growth record
// (growth_record.h). A process has at most 24 of them, and at least 12 once it
// has used all 24 windows. They are at equal distances, counted in the time in
// which the process allocated. Sites with the same stack of calls are one
// entry; sites without a figure are left out. Changes only `calls` and `image`;
// thread-compatible. Memory: 12 bytes a call and
// moment, and some 64 more while it runs.

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
