// The steps and tensors of a resolved network, before any tensor has a place.
//
//   ExecutionPlan plan;
//   absl::Status status = BuildSteps(network, options, states, &plan);
//
// A step of planning (execution_plan.h); see there for memory. Pure.

#ifndef FOOTPRINT_TRAINER_MANAGER_EXECUTION_STEPS_H_
#define FOOTPRINT_TRAINER_MANAGER_EXECUTION_STEPS_H_

#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "footprint/trainer_manager/execution_plan.h"

namespace footprint {

// Fills in everything but storages and what is said of bytes in all. Tensors
// get their lifespans. The derivatives of the layers in `sliced` are calculated
// by slices; each must be one that CanSlice. InvalidArgument: a layer has
// weights, but no derivative reaches it.
absl::Status BuildSteps(ResolvedNetwork network, const MemoryOptions& options,
                        int optimizer_states, const std::vector<size_t>& sliced,
                        ExecutionPlan* plan);

// Whether the layer's derivative may be calculated by slices: it is the only
// reader of an activation that knows its slope from its output.
bool CanSlice(const ResolvedNetwork& network, size_t layer);

// Whether it may be, with the activation restored from the layer's output.
bool CanRestore(const ResolvedNetwork& network, size_t layer);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_EXECUTION_STEPS_H_
