// Finds the least height by trying every order. The planner's tests compare
// with it.
//
//   const int64_t minimum = MinimumHeightByBruteForce(requests);
//
// Every plan can be pushed down until each tensor lies at the least multiple of
// its alignment above the tensors below it. Placing the tensors one by one on
// the skyline, in the order of their offsets, gives that same plan. So the best
// of all orders has the least height.
//
// Pure and thread-safe. Memory: 16 bytes a tensor. Time: O(n! n (n + a)) with
// alignments up to a.

#ifndef FOOTPRINT_TRAINER_MANAGER_PLANNER_BRUTE_FORCE_PLANNER_H_
#define FOOTPRINT_TRAINER_MANAGER_PLANNER_BRUTE_FORCE_PLANNER_H_

#include <cstdint>
#include <vector>

#include "footprint/trainer_manager/planner/plan.h"

namespace footprint {

// Returns the least height of any plan, in bytes.
int64_t MinimumHeightByBruteForce(const std::vector<TensorRequest>& requests);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_PLANNER_BRUTE_FORCE_PLANNER_H_
