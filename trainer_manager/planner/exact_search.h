// Finds a plan of at most a given height, or proves that there is none, by
// branch and bound over canonical plans: those in which every tensor lies at 0
// or, but for its alignment, on another.
//
//   ExactSearch search(&problem);
//   if (search.Search(capacity, effort) == ExactSearch::Outcome::kFound) {
//     Use(search.offsets());
//   }
//
// The tensors placed so far form a skyline over the sections. A valley is a run
// of sections at one height between higher ones. A tensor on the floor of the
// valley's leftmost section must begin in that section and end inside the
// valley, which leaves few tensors to try. Otherwise the section stays empty up
// to the least height at which any tensor could cover it. That waste is taken
// from the bytes that the section can spare: the capacity less the bytes of all
// tensors live in it. The same holds mirrored.
//  * Fail first: of all corners of all valleys, the search branches at one with
//    the fewest branches.
//  * Parts of the skyline that no unplaced tensor joins are solved separately;
//    if one has no plan, the search goes back past all the others at once.
//  * States that were ruled out are remembered by a 64-bit hash, across calls:
//    a restart keeps what it learnt. (Two states with one hash could hide a
//    plan, with a chance of about nodes x 2^-64.)
//  * Choices that cannot matter are not tried: equal twins, and tensors that
//    would lie above waste only.
//
// Thread-compatible; keeps a pointer to the problem. Memory: half a mebibyte of
// ruled-out states by default, and the trail for taking decisions back, less
// than 100 bytes for each section of each item. Time: exponential in the worst
// case, limited by the effort; a node costs a few operations for each section
// of its part.

#ifndef FOOTPRINT_TRAINER_MANAGER_PLANNER_EXACT_SEARCH_H_
#define FOOTPRINT_TRAINER_MANAGER_PLANNER_EXACT_SEARCH_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "footprint/base/random/random_sequence.h"
#include "footprint/trainer_manager/planner/placement_problem.h"

namespace footprint {
namespace trainer_manager_internal {

// The order in which corners are tried. Lower scores come first.
enum class CornerOrder {
  kFewestThenLowest,    // fewest branches, then the lowest floor
  kFewestThenTightest,  // fewest branches, then the fewest spare bytes
  kForcedThenLowest,    // forced corners, then the lowest floor
  kForcedThenFirst,     // forced corners, then from the first step on
  kForcedThenLast,      // forced corners, then from the last step back
};

// The order of the tensors at a corner. Tensors that bring both sides of the
// corner's wall to one level, alone or with few others, come before the rest:
// in a tight plan such sums are seldom equal by chance.
enum class ItemOrder { kByArea, kByLifespan, kBySize };

class ExactSearch {
 public:
  enum class Outcome { kFound, kInfeasible, kGaveUp };

  struct Effort {
    int64_t node_limit = 0;
    absl::Time deadline = absl::InfiniteFuture();
    CornerOrder corner_order = CornerOrder::kForcedThenFirst;
    ItemOrder item_order = ItemOrder::kByArea;
    uint64_t seed = 0;  // if not 0, random numbers decide near ties
  };

  // `state_count` is the number of states to remember, at least 1.
  explicit ExactSearch(const PlacementProblem* problem,
                       size_t state_count = size_t{1} << 16);

  // Searches for a plan of at most `capacity` bytes. kInfeasible is a proof;
  // kGaveUp means that the effort did not suffice.
  Outcome Search(int64_t capacity, const Effort& effort);

  // Returns the offsets of the plan if the last call of Search returned kFound.
  // A later call overwrites them, even if it finds no plan.
  const std::vector<int64_t>& offsets() const { return offsets_; }

  // Returns the decisions of all calls together. A decision counts once, and
  // once more for every 256 sections of its part.
  int64_t node_count() const { return node_count_; }

 private:
  static constexpr int32_t kNone = -1;

  // A branch: an item at an offset, or a section wasted up to a height.
  struct Branch {
    int32_t item;  // kNone: waste
    int32_t section;
    int64_t level;
    double score;
  };
  // A decision and its remaining branches.
  struct Frame {
    int32_t begin, end;  // the part of the skyline
    int32_t parent;      // the decision that made this part, or kNone
    int32_t pending;     // the list of parts to solve after this one
    size_t next_branch;
    size_t branches_end;
    size_t trail_size;
    size_t parts_size;
    uint64_t key;
  };
  // A part that waits, in a list linked by `next`.
  struct Part {
    int32_t begin, end;
    int32_t parent;
    int32_t next;
  };
  struct Change {
    int32_t section;
    int32_t item;  // kNone: only the section's floor changed
    int64_t floor;
    bool is_real;
    uint64_t floor_hash;
  };
  struct Valley {
    int32_t begin, end;
    int64_t floor;
    int64_t left_wall, right_wall;  // unbounded at the end of the part
  };
  // One end of a valley.
  struct Corner {
    Valley valley;
    bool is_left;
    int32_t section() const { return is_left ? valley.begin : valley.end - 1; }
  };
  struct Choice {
    Corner corner;
    double score;
    int64_t waste_level;  // kUnbounded: the section cannot be wasted
  };

  void Reset();
  Outcome Run();
  void AddParts(int32_t begin, int32_t end, int32_t parent, int32_t* pending);
  bool Open(const Part& part);
  void CutFramesAfter(int32_t frame);
  bool Backtrack();
  void Apply(const Branch& branch);
  void Undo(size_t trail_size);
  void SetFloor(int32_t section, int64_t floor, bool is_real);

  bool ChooseCorner(int32_t begin, int32_t end, Choice* best);
  bool NextValley(int32_t begin, int32_t end, int32_t* section,
                  Valley* valley) const;
  double Score(const Corner& corner, int ways) const;
  bool Fits(const Corner& corner, int32_t item) const;
  absl::Span<const int32_t> ItemsAt(const Corner& corner) const;
  int CountFitting(const Corner& corner) const;
  int64_t WasteLevel(const Corner& corner) const;
  int64_t LeastTopBeside(const Corner& corner, int32_t reach) const;
  void ListBranches(const Choice& choice);
  double Preference(const Corner& corner, int32_t item) const;
  int FewestThatLevel(const Corner& corner, int32_t item);
  uint64_t MakeKey(int32_t begin, int32_t end) const;
  bool IsRuledOut(uint64_t key) const;
  void RuleOut(uint64_t key);
  double Jitter();

  int64_t SpareIn(int32_t section) const {
    return capacity_ - floor_[section] - unplaced_[section];
  }

  const PlacementProblem* problem_;
  // The items that begin in a section, and the items that end with it.
  std::vector<int32_t> starters_, starters_begin_;
  std::vector<int32_t> enders_, enders_begin_;
  std::vector<uint64_t> item_hashes_;

  int64_t capacity_ = 0;
  Effort effort_;
  RandomSequence random_{0};
  int64_t node_count_ = 0;
  int64_t nodes_left_ = 0;
  int64_t decisions_ = 0;
  std::vector<uint64_t> ruled_out_;

  std::vector<int64_t> offsets_;
  std::vector<char> placed_;
  std::vector<int64_t> floor_;        // of each section
  std::vector<char> is_real_;         // the floor is 0 or the top of an item
  std::vector<int64_t> unplaced_;     // bytes of unplaced items in each section
  std::vector<int32_t> joining_;      // unplaced items in sections c - 1 and c
  std::vector<uint64_t> floor_hash_;  // of the floor, and whether it is real
  std::vector<uint64_t> starters_hash_;  // of the unplaced starters

  std::vector<int64_t> level_sizes_;  // scratch of FewestThatLevel

  std::vector<Frame> frames_;
  std::vector<Part> parts_;
  std::vector<Branch> branches_;
  std::vector<Change> trail_;
};

}  // namespace trainer_manager_internal
}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_PLANNER_EXACT_SEARCH_H_
