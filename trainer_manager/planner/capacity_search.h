// Runs variants of the exact search in turns, to find a plan within a given
// height.
//
//   CapacitySearch search(&problem);
//   for (int64_t turn = 0; turn < 100; ++turn) {
//     if (search.Try(capacity, turn, effort) == ExactSearch::Outcome::kFound) {
//       return search.offsets();
//     }
//   }
//
// No branching order is best for every instance, and their times differ by
// orders of magnitude. The orders therefore take turns with growing effort, by
// Luby's sequence, and with other random numbers each time. Every second turn
// searches the problem with items merged, either all that can be merged or a
// part of them.
//
// Equal calls in equal order give equal plans, unless a deadline cuts a turn
// short. Thread-compatible; keeps a pointer to the problem. Memory: that of an
// ExactSearch, and of two MergedItems with a search each that remembers 64 KiB
// of states.

#ifndef FOOTPRINT_TRAINER_MANAGER_PLANNER_CAPACITY_SEARCH_H_
#define FOOTPRINT_TRAINER_MANAGER_PLANNER_CAPACITY_SEARCH_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/time/time.h"
#include "footprint/trainer_manager/planner/exact_search.h"
#include "footprint/trainer_manager/planner/merged_items.h"
#include "footprint/trainer_manager/planner/placement_problem.h"

namespace footprint {
namespace trainer_manager_internal {

class CapacitySearch {
 public:
  // The number of turns after which each order has had one.
  static constexpr int64_t kTurnsOfARound = 16;

  struct Effort {
    int64_t node_limit = 0;  // the turn may end earlier
    absl::Time deadline = absl::InfiniteFuture();
  };

  explicit CapacitySearch(const PlacementProblem* problem)
      : problem_(problem) {}

  // Searches for a plan of at most `capacity` bytes; `turn`, from 0 on, chooses
  // the order. kInfeasible is a proof; after kGaveUp another turn may find a
  // plan.
  ExactSearch::Outcome Try(int64_t capacity, int64_t turn,
                           const Effort& effort);

  // Returns the offsets of the last plan that was found.
  const std::vector<int64_t>& offsets() const { return offsets_; }

  // Returns the decisions of all turns together.
  int64_t node_count() const { return node_count_; }

 private:
  // The states of a search of merged items, which is small.
  static constexpr size_t kStatesOfAMergedSearch = 8192;

  // A problem of merged items, and its search.
  struct MergedSearch {
    MergedSearch(const PlacementProblem& problem, uint64_t seed)
        : items(problem, seed),
          search(&items.problem(), kStatesOfAMergedSearch) {}

    const MergedItems items;
    ExactSearch search;
    int64_t infeasible_bytes = -1;  // the largest capacity proved too small
  };

  ExactSearch::Outcome TryMerged(int64_t capacity, uint64_t seed,
                                 const ExactSearch::Effort& effort);
  ExactSearch::Outcome TryAll(int64_t capacity,
                              const ExactSearch::Effort& effort);
  MergedSearch* Merged(uint64_t seed);

  const PlacementProblem* problem_;
  bool can_merge_ = true;
  std::unique_ptr<MergedSearch> merged_;  // all that can be merged
  // a part, chosen by partly_merged_seed_
  std::unique_ptr<MergedSearch> partly_merged_;
  uint64_t partly_merged_seed_ = 0;
  std::unique_ptr<ExactSearch> search_;  // of the original problem
  std::vector<int64_t> offsets_;
  int64_t node_count_ = 0;
};

}  // namespace trainer_manager_internal
}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_PLANNER_CAPACITY_SEARCH_H_
