// Builds the steps and tensors of a resolved network, before any tensor has an
// offset.
//
//   ExecutionPlan plan;
//   absl::Status status =
//       BuildSteps(network, options, states, choices, &plan);
//
// This is a step of planning; execution_plan.h says how much memory that takes.
// Changes only `plan`; thread-safe.

#ifndef FOOTPRINT_TRAINER_MANAGER_EXECUTION_EXECUTION_STEPS_H_
#define FOOTPRINT_TRAINER_MANAGER_EXECUTION_EXECUTION_STEPS_H_

#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "footprint/trainer_manager/execution/execution_types.h"

namespace footprint {

// The choices that network and options leave open.
struct StepChoices {
  // Layers whose derivatives are calculated by slices. CanSlice or CanSliceSum
  // must hold for them.
  std::vector<size_t> sliced;
  // Layers whose outputs are recomputed although that is not nearly free.
  // CanRecompute must hold for them. Needs MemoryOptions::share_edges.
  std::vector<size_t> dropped;
  // Layers whose outputs the forward steps write to the file and the backward
  // steps read back. Needs MemoryOptions::share_edges.
  std::vector<size_t> swapped;
  // Layers whose outputs, if recomputed, are recomputed for each layer whose
  // backward steps need them, and not kept in between.
  std::vector<size_t> forgotten;
  // Layers whose weights, once read from their file, stay in memory until the
  // last step of the layer (MemoryOptions::read_frozen_weights).
  std::vector<size_t> kept_weights;
};

// Fills in everything but the math backend, storages, total bytes and the
// fingerprint; `plan` must be new. Tensors get their lifespans. Returns
// InvalidArgument if no derivative reaches a layer that is trained, or that has
// a trained layer before it.
absl::Status BuildSteps(ResolvedNetwork network, const MemoryOptions& options,
                        int optimizer_states, const StepChoices& choices,
                        ExecutionPlan* plan);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_EXECUTION_EXECUTION_STEPS_H_
