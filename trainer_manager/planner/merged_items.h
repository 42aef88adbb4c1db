// Items that fill a rectangle of sections x bytes together, taken as one.
//
//   const MergedItems merged(problem, /*seed=*/0);
//   ExactSearch search(&merged.problem());
//   if (search.Search(capacity, effort) == ExactSearch::Outcome::kFound) {
//     Use(merged.OffsetsOfItems(search.offsets()));
//   }
//
// Three figures are looked for, also in each other, until there are no more:
// an item that begins where another of its size ends; five items around a
// centre, a pinwheel; and two items of one lifespan.
//
//   L L T T T     The left one is as large as the top one and the centre, the
//   L L c R R     right one as the centre and the bottom one. Mirrored, the
//   B B B R R     five have the same lifespans.
//
// Sizes seldom agree by chance. Where they do, one tensor probably takes the
// place of others, and what remains is a much smaller problem, often a single
// item. It is a guess: a plan of the merged problem is one of all items, but
// that there is none proves nothing.
//
// Owns copies of the items, so the problem may end before it. Immutable once
// made, so thread-safe; equal arguments give equal figures. Memory: less than
// 300 bytes an item. Time: O(n log n) for each level of figures in figures.

#ifndef FOOTPRINT_TRAINER_MANAGER_PLANNER_MERGED_ITEMS_H_
#define FOOTPRINT_TRAINER_MANAGER_PLANNER_MERGED_ITEMS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "footprint/trainer_manager/planner/placement_problem.h"

namespace footprint {
namespace trainer_manager_internal {

class MergedItems {
 public:
  // Seed 0 merges all that it finds; others leave a part of it, by chance.
  MergedItems(const PlacementProblem& problem, uint64_t seed);

  const PlacementProblem& problem() const { return problem_; }

  // Returns the offsets of the items that were merged; `offsets` are of
  // problem().items.
  std::vector<int64_t> OffsetsOfItems(absl::Span<const int64_t> offsets) const;

 private:
  friend class ItemMerger;

  struct Part {
    int32_t id;      // of a figure
    int64_t offset;  // from that of the figure that it is a part of
  };
  // An item, or several that lie together.
  struct Figure {
    PlacementItem item;
    size_t parts_begin, parts_end;
  };

  size_t item_count_;
  std::vector<Figure> figures_;  // the items, then each after its parts
  std::vector<Part> parts_;
  std::vector<int32_t> outermost_;  // the figures that are no parts
  PlacementProblem problem_;        // of the outermost
};

}  // namespace trainer_manager_internal
}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_PLANNER_MERGED_ITEMS_H_
