// The stages of a process, from its record into a measured run.
//
//   SetStages(*process.stages, image);
//
// Indices stay as they are, so sites and points still name their stages. Begins
// and ends that did not match are added to the notes. Copies the names.
// Thread-compatible. Memory: 200 bytes a stage.

#ifndef FOOTPRINT_PROFILING_RUNS_STAGE_FIGURES_H_
#define FOOTPRINT_PROFILING_RUNS_STAGE_FIGURES_H_

#include "footprint/profiling/records/stage_profile.h"
#include "footprint/profiling/runs/measured_run.pb.h"

namespace footprint {

void SetStages(const StageProfile& profile, MeasuredImage* image);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_RUNS_STAGE_FIGURES_H_
