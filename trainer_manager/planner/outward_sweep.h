// Grows a plan outwards from the fullest section.
//
//   SweepEffort effort;
//   effort.target_height = bound.bytes;
//   std::vector<int64_t> offsets = PlaceOutwards(problem, effort);
//
// The tensors that are live in the fullest section are stacked, the
// longest-lived lowest, with no gaps but those of alignment. From there one
// sweep goes forwards and one backwards. At each section a tensor that ends
// frees its place, and one that begins takes a gap, as in a heap whose requests
// are known in advance. Only tensors that are live in that section can be in
// the way, so a sweep is nearly linear. Long-lived tensors go to the low end of
// a gap, short-lived ones to the high end, out of their way. The tightest
// sections come first, while nothing is in the way. A sweep that fails does so
// early. The first four sweeps differ in the lifespans that count as short;
// later ones also choose some of the ends at random.
//
// Training graphs need no other method: their activations are nested, and
// tensors that live beside them are short-lived. Pure and thread-safe: equal
// arguments give equal plans, unless the deadline passes. Memory: linear. Time:
// O(n log n) once and O(n g) a sweep, where g is the number of gaps in a
// section.

#ifndef FOOTPRINT_TRAINER_MANAGER_PLANNER_OUTWARD_SWEEP_H_
#define FOOTPRINT_TRAINER_MANAGER_PLANNER_OUTWARD_SWEEP_H_

#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "footprint/trainer_manager/planner/placement_problem.h"

namespace footprint {
namespace trainer_manager_internal {

struct SweepEffort {
  int64_t target_height = 0;  // a plan this low ends the search
  int64_t stack_limit = 16;   // orders of the fullest section's tensors
  int64_t sweep_limit = 16;   // sweeps for each stack and direction
  uint64_t seed = 1;
  absl::Time deadline = absl::InfiniteFuture();  // checked now and then
};

// Returns the lowest plan found, or an empty list if there are no items, if
// none fits 64 bits or if the deadline passed first.
std::vector<int64_t> PlaceOutwards(const PlacementProblem& problem,
                                   const SweepEffort& effort);

}  // namespace trainer_manager_internal
}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_PLANNER_OUTWARD_SWEEP_H_
