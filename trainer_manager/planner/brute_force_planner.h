// The least height by trying every order: the oracle of the planner's tests.
//
//   const int64_t minimum = MinimumHeightByBruteForce(requests);
//
// Every plan can be pushed down until each tensor lies at the least multiple of
// its alignment above those below it; taken in the order of their offsets, the
// tensors are then placed on the skyline one by one. So the best of all orders
// is the minimum. O(n! n^2).
//
// Pure, thread-safe. Memory: 16 bytes a tensor.

#ifndef FOOTPRINT_TRAINER_MANAGER_PLANNER_BRUTE_FORCE_PLANNER_H_
#define FOOTPRINT_TRAINER_MANAGER_PLANNER_BRUTE_FORCE_PLANNER_H_

#include <cstdint>
#include <vector>

#include "footprint/trainer_manager/planner/plan.h"

namespace footprint {

int64_t MinimumHeightByBruteForce(const std::vector<TensorRequest>& requests);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_PLANNER_BRUTE_FORCE_PLANNER_H_
