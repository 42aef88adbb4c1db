// Merges items that together fill a rectangle of sections x bytes.
//
//   const MergedItems merged(problem, /*seed=*/0);
//   ExactSearch search(&merged.problem());
//   if (search.Search(capacity, effort) == ExactSearch::Outcome::kFound) {
//     Use(merged.OffsetsOfItems(search.offsets()));
//   }
//
// The merger looks for three kinds of figures, whose parts may be figures too,
// until it finds no more: an item that begins where another of its size ends;
// five items around a centre, a pinwheel; and two items with equal lifespans.
//
//   L L T T T     The left item is as large as the top one and the centre, the
//   L L c R R     right item as the centre and the bottom one. Mirrored, the
//   B B B R R     five have the same lifespans.
//
// Sizes are seldom equal by chance. If they are, one tensor probably takes the
// place of others, and the rest is a much smaller problem, often a single item.
// This is a guess: a plan of the merged problem is a plan of all items, but if
// the merged problem has no plan, that proves nothing.
//
// Owns copies of the items, so the problem may end first. Immutable once made,
// so thread-safe; equal arguments give equal figures. Memory: less than 300
// bytes an item. Time: O(n log n) for each level of nested figures.

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
  // Seed 0 merges all that it finds. Other seeds leave a random part unmerged.
  MergedItems(const PlacementProblem& problem, uint64_t seed);

  const PlacementProblem& problem() const { return problem_; }

  // Returns the offsets of the original items, given those of problem().items.
  std::vector<int64_t> OffsetsOfItems(absl::Span<const int64_t> offsets) const;

 private:
  friend class ItemMerger;

  struct Part {
    int32_t id;      // of a figure
    int64_t offset;  // relative to the figure that contains it
  };
  // An item, or several that lie together.
  struct Figure {
    PlacementItem item;
    size_t parts_begin, parts_end;
  };

  size_t item_count_;
  std::vector<Figure> figures_;  // the items, then figures after their parts
  std::vector<Part> parts_;
  std::vector<int32_t> outermost_;  // the figures that are not parts
  PlacementProblem problem_;        // of the outermost figures
};

}  // namespace trainer_manager_internal
}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_PLANNER_MERGED_ITEMS_H_
