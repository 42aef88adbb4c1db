// Checks that a plan is valid, without using any of the solvers' code.
//
//   absl::Status status = ValidatePlan(requests, plan, capacity_bytes);
//
// Pure and thread-safe. Memory: linear. Time: O(n log n).

#ifndef FOOTPRINT_TRAINER_MANAGER_PLANNER_PLAN_VALIDATOR_H_
#define FOOTPRINT_TRAINER_MANAGER_PLANNER_PLAN_VALIDATOR_H_

#include <cstdint>
#include <limits>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "footprint/trainer_manager/planner/plan.h"

namespace footprint {

// Checks that each request has an offset that is not negative and is a multiple
// of its alignment; that no two tensors live at one step share a byte; that the
// height is the end of the highest tensor and at most the capacity; and that
// the lower bound follows from the tensors of its certificate, which are
// exactly those live at its step. A bound of kind kExhaustiveSearch must be
// neither below that of its tensors nor above the height.
//
// Returns FailedPrecondition, whose message says which tensors break which
// rule, and how. The requests must have passed CheckRequests, so that sums of
// sizes do not overflow; a plan may be anything.
absl::Status ValidatePlan(
    absl::Span<const TensorRequest> requests, const MemoryPlan& plan,
    int64_t capacity_bytes = std::numeric_limits<int64_t>::max());

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_PLANNER_PLAN_VALIDATOR_H_
