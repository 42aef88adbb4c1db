// A lower bound on the bytes of a network's steps over all choices of what to
// slice, drop, forget or swap. The distance of a search's answer from it limits
// what a better search could gain.
//
//   const auto bytes =
//       BoundAllChoices(PlanBuilder(resolved, math, options, 0));
//   // Every choice has a plan of at least that many bytes.
//
// Proof: each layer runs forward once, and each of its backward steps runs
// once, in an order that depends only on whether its gradient has tiles. At
// such a step the arena holds the tensors that the step itself reads and
// writes, and those that no choice can make absent: derivatives that wait for
// others, gradients of other layers, and tensors that layers save. Of the two
// orders, the one in which the layer's largest step needs less counts.
// Activations that the step does not read count nothing, nor does the memory of
// slices, nor a tensor that may share the storage of another. This is no bound
// for MemoryOptions::read_frozen_weights, since a step that works by slices
// needs its weights whole.
//
// Pure, thread-safe. Memory and time: those of one plan's bound.

#ifndef FOOTPRINT_TRAINER_MANAGER_EXECUTION_CHOICE_BOUND_H_
#define FOOTPRINT_TRAINER_MANAGER_EXECUTION_CHOICE_BOUND_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "footprint/trainer_manager/execution/bounded_plan.h"

namespace footprint {

// Returns the bound in bytes, including weights and inputs. Errors: those of
// PlanBuilder::Bound.
absl::StatusOr<int64_t> BoundAllChoices(const PlanBuilder& builder);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_EXECUTION_CHOICE_BOUND_H_
