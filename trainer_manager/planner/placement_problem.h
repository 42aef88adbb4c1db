// The requests in the form that the solvers use: steps at which nothing begins
// or ends are joined with the step before.
//
//   const PlacementProblem problem = MakePlacementProblem(requests);
//   problem.items[3].begin;  // the first section in which request 3 is live
//
// Owns its items, so the requests may end first. Immutable once made, so
// thread-safe. Memory: 40 bytes an item. Time: O(n log n).

#ifndef FOOTPRINT_TRAINER_MANAGER_PLANNER_PLACEMENT_PROBLEM_H_
#define FOOTPRINT_TRAINER_MANAGER_PLANNER_PLACEMENT_PROBLEM_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "footprint/trainer_manager/planner/plan.h"

namespace footprint {
namespace trainer_manager_internal {

// An item that is live in the sections [begin, end).
struct PlacementItem {
  int32_t begin = 0;
  int32_t end = 0;
  int64_t size = 0;
  int64_t alignment = 1;
};

struct PlacementProblem {
  std::vector<PlacementItem> items;    // one for each request
  std::vector<int64_t> section_steps;  // the first step of each section

  int32_t section_count() const {
    return static_cast<int32_t>(section_steps.size());
  }
};

// Returns the problem. The requests must have passed CheckRequests.
PlacementProblem MakePlacementProblem(absl::Span<const TensorRequest> requests);

// Returns the first section in which the items need most bytes.
int32_t FullestSection(const PlacementProblem& problem);

// Returns the height of the plan with these offsets.
int64_t ComputeHeight(const PlacementProblem& problem,
                      absl::Span<const int64_t> offsets);

}  // namespace trainer_manager_internal
}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_PLANNER_PLACEMENT_PROBLEM_H_
