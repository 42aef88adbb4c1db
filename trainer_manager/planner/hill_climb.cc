#include "footprint/trainer_manager/planner/hill_climb.h"

#include <algorithm>
#include <cstddef>
#include <random>
#include <utility>

#include "absl/time/clock.h"
#include "footprint/trainer_manager/planner/ordered_placement.h"

namespace footprint {
namespace trainer_manager_internal {
namespace {

// Returns the rank in the order of a tensor that reaches the top.
size_t PlaceOfTopmost(const PlacementProblem& problem,
                      const std::vector<int32_t>& order,
                      const std::vector<int64_t>& offsets) {
  const auto top = [&](int32_t index) {
    return offsets[index] + problem.items[index].size;
  };
  return std::max_element(
             order.begin(), order.end(),
             [&](int32_t a, int32_t b) { return top(a) < top(b); }) -
         order.begin();
}

// Returns the rank of a random tensor that is live together with the one at
// `rank`.
size_t PlaceBeside(const PlacementProblem& problem,
                   const std::vector<int32_t>& order, size_t rank,
                   std::mt19937_64* random) {
  const PlacementItem& item = problem.items[order[rank]];
  const size_t first = (*random)() % order.size();
  for (size_t i = 0; i < order.size(); ++i) {
    const size_t other_place = (first + i) % order.size();
    const PlacementItem& other = problem.items[order[other_place]];
    if (other_place > 0 && other.begin < item.end && item.begin < other.end) {
      return other_place;
    }
  }
  return rank;
}

}  // namespace

std::vector<int64_t> ClimbHill(const PlacementProblem& problem,
                               std::vector<int32_t> order,
                               const HillClimbEffort& effort) {
  std::mt19937_64 random(effort.seed);
  std::vector<int64_t> best = PlaceByFirstFit(problem, order);
  int64_t best_height = ComputeHeight(problem, best);
  for (int64_t trial = 0; trial < effort.trial_limit; ++trial) {
    if (best_height <= effort.stop_at_height || absl::Now() > effort.deadline) {
      break;
    }
    size_t from = PlaceOfTopmost(problem, order, best);
    if (random() % 2 == 0) from = PlaceBeside(problem, order, from, &random);
    if (from == 0) continue;
    const size_t to = random() % from;
    std::vector<int32_t> changed = order;
    std::rotate(changed.begin() + to, changed.begin() + from,
                changed.begin() + from + 1);
    std::vector<int64_t> offsets =
        PlaceByFirstFit(problem, changed, effort.deadline);
    if (offsets.size() < changed.size()) break;  // the deadline passed
    const int64_t height = ComputeHeight(problem, offsets);
    if (height > best_height) continue;
    best_height = height;
    best = std::move(offsets);
    order = std::move(changed);
  }
  return best;
}

}  // namespace trainer_manager_internal
}  // namespace footprint
