// Places tensors by first fit, in an order that local search improves.
//
//   std::vector<int64_t> offsets = ClimbHill(problem, order, effort);
//
// Each trial moves a tensor that reaches the top, or one live beside it, to an
// earlier place in the order, and keeps the move if the plan is no higher.
// Equal seeds give equal plans, unless the deadline cuts the search short; the
// first plan is made even if it has passed. Keeps nothing; thread-safe. Memory:
// linear. Time: O(n^2) a trial.

#ifndef FOOTPRINT_TRAINER_MANAGER_PLANNER_HILL_CLIMB_H_
#define FOOTPRINT_TRAINER_MANAGER_PLANNER_HILL_CLIMB_H_

#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "footprint/trainer_manager/planner/placement_problem.h"

namespace footprint {
namespace trainer_manager_internal {

struct HillClimbEffort {
  int64_t trial_limit = 500;
  absl::Time deadline = absl::InfiniteFuture();
  int64_t stop_at_height = 0;  // stops at a plan this low
  uint64_t seed = 1;
};

// Returns the offsets of the lowest plan that it found. `order` is the order of
// the first plan.
std::vector<int64_t> ClimbHill(const PlacementProblem& problem,
                               std::vector<int32_t> order,
                               const HillClimbEffort& effort);

}  // namespace trainer_manager_internal
}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_PLANNER_HILL_CLIMB_H_
