// The steps and tensors of a resolved network, before any tensor has a place.
//
//   ExecutionPlan plan;
//   absl::Status status =
//       BuildSteps(network, options, states, choices, &plan);
//
// A step of planning (execution_plan.h); see there for memory. Pure,
// thread-safe.

#ifndef FOOTPRINT_TRAINER_MANAGER_EXECUTION_EXECUTION_STEPS_H_
#define FOOTPRINT_TRAINER_MANAGER_EXECUTION_EXECUTION_STEPS_H_

#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "footprint/trainer_manager/execution/execution_types.h"

namespace footprint {

// Choices that are left once network and options are given.
struct StepChoices {
  // Layers whose derivatives are calculated by slices: such that CanSlice or
  // CanSliceSum.
  std::vector<size_t> sliced;
  // Layers whose outputs are calculated again although that is not free: such
  // that CanRecompute. Needs MemoryOptions::share_edges.
  std::vector<size_t> dropped;
  // Layers whose outputs are written to the file by the forward steps and read
  // back by the backward steps. Needs MemoryOptions::share_edges.
  std::vector<size_t> swapped;
  // Layers whose outputs, where they are calculated again, are so for each
  // layer whose backward steps need them, and not kept in between.
  std::vector<size_t> forgotten;
};

// Fills in everything but storages and what is said of bytes in all. Tensors
// get their lifespans. InvalidArgument: a layer has weights, but no derivative
// reaches it.
absl::Status BuildSteps(ResolvedNetwork network, const MemoryOptions& options,
                        int optimizer_states, const StepChoices& choices,
                        ExecutionPlan* plan);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_EXECUTION_EXECUTION_STEPS_H_
