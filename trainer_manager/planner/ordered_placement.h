// Places tensors one after the other in a given order.
//
//   const std::vector<int32_t> order =
//       SortItems(problem, PlacementOrder::kBySize);
//   std::vector<int64_t> offsets = PlaceByFirstFit(problem, order);
//
// Pure and thread-safe. Memory: linear.

#ifndef FOOTPRINT_TRAINER_MANAGER_PLANNER_ORDERED_PLACEMENT_H_
#define FOOTPRINT_TRAINER_MANAGER_PLANNER_ORDERED_PLACEMENT_H_

#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "footprint/trainer_manager/planner/placement_problem.h"

namespace footprint {
namespace trainer_manager_internal {

// For ties, the longer lifespan or larger size comes first, then the earlier
// request.
enum class PlacementOrder {
  kByStart,     // the earliest to begin first
  kBySize,      // the largest first
  kByLifespan,  // the longest-lived first
  kByArea,      // the largest product of bytes and sections first
};

// Returns the indices of the items in that order.
std::vector<int32_t> SortItems(const PlacementProblem& problem,
                               PlacementOrder order);

// Returns a plan without sharing: each tensor lies after the one before. O(n).
std::vector<int64_t> PlaceSideBySide(const PlacementProblem& problem);

// Puts each tensor into the lowest gap between those placed before it. Returns
// an empty list if the deadline passes, which is checked now and then. O(n^2),
// a few nanoseconds for each pair.
std::vector<int64_t> PlaceByFirstFit(
    const PlacementProblem& problem, absl::Span<const int32_t> order,
    absl::Time deadline = absl::InfiniteFuture());

}  // namespace trainer_manager_internal
}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_PLANNER_ORDERED_PLACEMENT_H_
