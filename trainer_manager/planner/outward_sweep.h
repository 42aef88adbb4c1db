// Plans that grow outwards from the fullest section.
//
//   SweepEffort effort;
//   effort.target_height = bound.bytes;
//   std::vector<int64_t> offsets = PlaceOutwards(problem, effort);
//
// Tensors live in the fullest section are stacked without a gap, the
// longest-lived lowest. From there one sweep goes forwards and one backwards:
// at each section a tensor that ends frees its place, and one that begins takes
// a gap, as in a heap whose requests are known. Only tensors live in that
// section can be in the way, so a sweep is nearly linear. Long-lived tensors go
// to the low end of a gap, short-lived ones to the high end, out of their way.
// The tightest sections come first, while nothing is in the way yet; where a
// sweep fails, it does so early, and the next one decides a part of the ends by
// chance.
//
// Training graphs end here: their activations are nested, and tensors that live
// beside them are short-lived. Pure and thread-safe: equal arguments give equal
// plans. Memory: linear. Time: O(n log n) once and O(n g) a sweep, g being the
// gaps of a section.

#ifndef FOOTPRINT_TRAINER_MANAGER_PLANNER_OUTWARD_SWEEP_H_
#define FOOTPRINT_TRAINER_MANAGER_PLANNER_OUTWARD_SWEEP_H_

#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "footprint/trainer_manager/planner/placement_problem.h"

namespace footprint {
namespace trainer_manager_internal {

struct SweepEffort {
  int64_t target_height = 0;  // a plan this low is good enough
  int64_t stack_limit = 16;   // orders of what is live in the fullest section
  int64_t sweep_limit = 16;   // of each direction, for a stack
  uint64_t seed = 1;
  absl::Time deadline = absl::InfiniteFuture();  // looked at now and then
};

// The lowest plan found; empty if none ends in 64 bits, or before the deadline.
std::vector<int64_t> PlaceOutwards(const PlacementProblem& problem,
                                   const SweepEffort& effort);

}  // namespace trainer_manager_internal
}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_PLANNER_OUTWARD_SWEEP_H_
