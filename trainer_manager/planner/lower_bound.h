// Computes a lower bound of the arena that any plan needs, and the step that
// proves it.
//
//   const LowerBound bound = ComputeLowerBound(requests);
//   // bound.tensors are live together at bound.step and need bound.bytes.
//
// At a step all live tensors need their bytes at once. If they are aligned to
// `a` or more, all but the topmost take a multiple of `a`, which can be more.
// Each alignment that occurs is tried on the tensors with at least that
// alignment. Pure and thread-safe. Memory: linear. Time: O(n log n), and O(n)
// for each pair of the alignments that occur.

#ifndef FOOTPRINT_TRAINER_MANAGER_PLANNER_LOWER_BOUND_H_
#define FOOTPRINT_TRAINER_MANAGER_PLANNER_LOWER_BOUND_H_

#include "absl/types/span.h"
#include "footprint/trainer_manager/planner/plan.h"

namespace footprint {

// Returns the largest bound that was found; 0 bytes for no requests. The
// requests must have passed CheckRequests.
LowerBound ComputeLowerBound(absl::Span<const TensorRequest> requests);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_PLANNER_LOWER_BOUND_H_
