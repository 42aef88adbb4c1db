// A lower bound on the bytes of a network's steps, whatever is sliced, dropped,
// forgotten or swapped: the distance of a search's answer from it says how much
// a better search could still gain.
//
//   const auto bytes = BoundAllChoices(PlanBuilder(resolved, math, options,
//   0));
//   // No choices have a plan of fewer bytes.
//
// Proof: each layer runs forward once, and each of its backward steps runs
// once, in the same order for all choices. At such a step lie the tensors that
// the step itself reads and writes, and those that no choice can make absent:
// derivatives that wait for others, gradients, and tensors that layers save.
// Activations that the step does not read count nothing, nor does memory of
// slices, nor a tensor that may lie on another.
//
// Pure, thread-safe. Memory and time: those of one plan's bound.

#ifndef FOOTPRINT_TRAINER_MANAGER_EXECUTION_CHOICE_BOUND_H_
#define FOOTPRINT_TRAINER_MANAGER_EXECUTION_CHOICE_BOUND_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "footprint/trainer_manager/execution/bounded_plan.h"

namespace footprint {

// Returns the bound in bytes, with weights, inputs and all. Errors: those of
// PlanBuilder::Bound.
absl::StatusOr<int64_t> BoundAllChoices(const PlanBuilder& builder);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_EXECUTION_CHOICE_BOUND_H_
