// The steps and tensors of a resolved network, before any tensor has a place.
//
//   ExecutionPlan plan;
//   absl::Status status =
//       BuildSteps(network, options, states, choices, &plan);
//
// A step of planning (execution_plan.h); see there for memory. Pure.

#ifndef FOOTPRINT_TRAINER_MANAGER_EXECUTION_STEPS_H_
#define FOOTPRINT_TRAINER_MANAGER_EXECUTION_STEPS_H_

#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "footprint/trainer_manager/execution_plan.h"

namespace footprint {

// What is left to choose once network and options are given.
struct StepChoices {
  // Layers whose derivatives are calculated by slices: such that CanSlice.
  std::vector<size_t> sliced;
  // Layers whose outputs are calculated again although that is not free: such
  // that CanRecompute. Needs MemoryOptions::share_edges.
  std::vector<size_t> dropped;
};

// Fills in everything but storages and what is said of bytes in all. Tensors
// get their lifespans. InvalidArgument: a layer has weights, but no derivative
// reaches it.
absl::Status BuildSteps(ResolvedNetwork network, const MemoryOptions& options,
                        int optimizer_states, const StepChoices& choices,
                        ExecutionPlan* plan);

// Whether the layer's derivative may be calculated by slices: it is the only
// reader of an activation that knows its slope from its output.
bool CanSlice(const ResolvedNetwork& network, size_t layer);

// Whether the layer's output may be calculated again.
bool CanRecompute(const ResolvedNetwork& network, size_t layer);

// The layers to drop, besides `dropped`, for the output of `layer` not to be
// kept: itself and those before it up to what the backward steps read anyway.
std::vector<size_t> LayersToDrop(const ResolvedNetwork& network,
                                 const std::vector<size_t>& dropped,
                                 size_t layer);

// Whether it may be, with the activation restored from the layer's output.
bool CanRestore(const ResolvedNetwork& network, size_t layer);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_EXECUTION_STEPS_H_
