// The steps and tensors of a resolved network, before any tensor has a place.
//
//   ExecutionPlan plan;
//   absl::Status status = BuildSteps(network, options, states, &plan);
//
// A step of planning (execution_plan.h); see there for memory. Pure.

#ifndef FOOTPRINT_TRAINER_MANAGER_EXECUTION_STEPS_H_
#define FOOTPRINT_TRAINER_MANAGER_EXECUTION_STEPS_H_

#include "absl/status/status.h"
#include "footprint/trainer_manager/execution_plan.h"

namespace footprint {

// Fills in everything but storages and what is said of bytes in all. Tensors
// get their lifespans. InvalidArgument: a layer has weights, but no derivative
// reaches it.
absl::Status BuildSteps(ResolvedNetwork network, const MemoryOptions& options,
                        int optimizer_states, ExecutionPlan* plan);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_EXECUTION_STEPS_H_
