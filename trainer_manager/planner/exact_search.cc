#include "footprint/trainer_manager/planner/exact_search.h"

#include <algorithm>
#include <limits>

#include "absl/time/clock.h"
#include "footprint/base/memory/alignment.h"

namespace footprint {
namespace trainer_manager_internal {
namespace {

constexpr int64_t kUnbounded = std::numeric_limits<int64_t>::max();
constexpr int64_t kDecisionsBetweenClocks = 256;
// A decision counts as one node, and as one more for each 256 sections of its
// part, since its time grows with them.
constexpr int32_t kSectionsOfANode = 256;

// Sorts the items into buckets by key(item). Bucket k is in `sorted` from
// begin[k] to begin[k + 1].
template <typename Key>
void SortIntoSections(const PlacementProblem& problem, const Key& key,
                      std::vector<int32_t>* sorted,
                      std::vector<int32_t>* begin) {
  begin->assign(problem.section_count() + 1, 0);
  for (const PlacementItem& item : problem.items) ++(*begin)[key(item) + 1];
  for (int32_t section = 0; section < problem.section_count(); ++section) {
    (*begin)[section + 1] += (*begin)[section];
  }
  sorted->resize(problem.items.size());
  std::vector<int32_t> next(begin->begin(), begin->end() - 1);
  for (size_t i = 0; i < problem.items.size(); ++i) {
    (*sorted)[next[key(problem.items[i])]++] = static_cast<int32_t>(i);
  }
}

uint64_t FloorHash(int32_t section, int64_t floor, bool is_real) {
  const uint64_t place = 2 * static_cast<uint64_t>(section) + (is_real ? 1 : 0);
  return RandomAt(place, static_cast<uint64_t>(floor));
}

bool AreTwins(const PlacementItem& a, const PlacementItem& b) {
  return a.begin == b.begin && a.end == b.end && a.size == b.size &&
         a.alignment == b.alignment;
}

}  // namespace

ExactSearch::ExactSearch(const PlacementProblem* problem, size_t state_count)
    : problem_(problem), ruled_out_(state_count, 0) {
  SortIntoSections(
      *problem, [](const PlacementItem& item) { return item.begin; },
      &starters_, &starters_begin_);
  SortIntoSections(
      *problem, [](const PlacementItem& item) { return item.end - 1; },
      &enders_, &enders_begin_);
  item_hashes_.resize(problem->items.size());
  for (size_t i = 0; i < item_hashes_.size(); ++i) {
    item_hashes_[i] = MixBits(i + 1);
  }
}

void ExactSearch::Reset() {
  const size_t item_count = problem_->items.size();
  const size_t section_count = problem_->section_steps.size();
  offsets_.assign(item_count, 0);
  placed_.assign(item_count, false);
  floor_.assign(section_count, 0);
  is_real_.assign(section_count, true);
  unplaced_.assign(section_count, 0);
  joining_.assign(section_count + 1, 0);
  floor_hash_.resize(section_count);
  for (size_t section = 0; section < section_count; ++section) {
    floor_hash_[section] = FloorHash(static_cast<int32_t>(section), 0, true);
  }
  starters_hash_.assign(section_count, 0);
  frames_.clear();
  parts_.clear();
  branches_.clear();
  trail_.clear();
  for (size_t i = 0; i < item_count; ++i) {
    const PlacementItem& item = problem_->items[i];
    for (int32_t c = item.begin; c < item.end; ++c) unplaced_[c] += item.size;
    for (int32_t c = item.begin + 1; c < item.end; ++c) ++joining_[c];
    starters_hash_[item.begin] ^= item_hashes_[i];
  }
}

ExactSearch::Outcome ExactSearch::Search(int64_t capacity,
                                         const Effort& effort) {
  capacity_ = capacity;
  effort_ = effort;
  random_ = RandomSequence(effort.seed);
  nodes_left_ = effort.node_limit;
  Reset();
  for (const int64_t bytes : unplaced_) {
    if (bytes > capacity) return Outcome::kInfeasible;
  }
  return Run();
}

ExactSearch::Outcome ExactSearch::Run() {
  int32_t pending = kNone;
  AddParts(0, problem_->section_count(), kNone, &pending);
  while (pending != kNone) {
    const Part part = parts_[pending];
    const int64_t cost = 1 + (part.end - part.begin) / kSectionsOfANode;
    node_count_ += std::min(cost, nodes_left_);
    nodes_left_ -= cost;
    if (nodes_left_ < 0) return Outcome::kGaveUp;
    if (++decisions_ % kDecisionsBetweenClocks == 0 &&
        absl::Now() > effort_.deadline) {
      return Outcome::kGaveUp;
    }
    if (!Open(part)) {
      // The branch that made the part has no plan.
      if (part.parent == kNone) return Outcome::kInfeasible;
      CutFramesAfter(part.parent);
    }
    if (!Backtrack()) return Outcome::kInfeasible;
    Frame& frame = frames_.back();
    Apply(branches_[frame.next_branch++]);
    pending = frame.pending;
    AddParts(frame.begin, frame.end, static_cast<int32_t>(frames_.size()) - 1,
             &pending);
  }
  return Outcome::kFound;
}

void ExactSearch::CutFramesAfter(int32_t frame) {
  frames_.resize(frame + 1);
  branches_.resize(frames_.back().branches_end);
}

// Backtracks to the most recent frame that has a branch left, and restores the
// state before its branches. A frame that has none left rules out its part, and
// with it the current branch of the decision that made the part. Decisions made
// since then for other parts do not matter.
bool ExactSearch::Backtrack() {
  while (true) {
    const Frame& frame = frames_.back();
    Undo(frame.trail_size);
    parts_.resize(frame.parts_size);
    if (frame.next_branch < frame.branches_end) return true;
    RuleOut(frame.key);
    if (frame.parent == kNone) return false;
    CutFramesAfter(frame.parent);
  }
}

// Puts the parts of [begin, end) that hold unplaced items before `*pending`,
// the smallest first, because it fails soonest.
void ExactSearch::AddParts(int32_t begin, int32_t end, int32_t parent,
                           int32_t* pending) {
  const size_t first = parts_.size();
  for (int32_t section = begin; section < end;) {
    const int32_t part_begin = section++;
    if (unplaced_[part_begin] == 0) continue;
    while (section < end && joining_[section] > 0) ++section;
    parts_.push_back({part_begin, section, parent, kNone});
  }
  std::sort(parts_.begin() + first, parts_.end(),
            [](const Part& a, const Part& b) {
              const int32_t a_sections = a.end - a.begin;
              const int32_t b_sections = b.end - b.begin;
              return a_sections != b_sections ? a_sections > b_sections
                                              : a.begin > b.begin;
            });
  for (size_t i = first; i < parts_.size(); ++i) {
    parts_[i].next = *pending;
    *pending = static_cast<int32_t>(i);
  }
}

// Begins a decision on the part. Returns false if the part has no plan.
bool ExactSearch::Open(const Part& part) {
  const uint64_t key = MakeKey(part.begin, part.end);
  if (IsRuledOut(key)) return false;
  Choice choice;
  if (!ChooseCorner(part.begin, part.end, &choice)) {
    RuleOut(key);
    return false;
  }
  Frame frame;
  frame.begin = part.begin;
  frame.end = part.end;
  frame.parent = part.parent;
  frame.pending = part.next;
  frame.next_branch = branches_.size();
  frame.trail_size = trail_.size();
  frame.parts_size = parts_.size();
  frame.key = key;
  ListBranches(choice);
  frame.branches_end = branches_.size();
  frames_.push_back(frame);
  return true;
}

void ExactSearch::SetFloor(int32_t section, int64_t floor, bool is_real) {
  trail_.push_back({section, kNone, floor_[section], is_real_[section] != 0,
                    floor_hash_[section]});
  floor_[section] = floor;
  is_real_[section] = is_real;
  floor_hash_[section] = FloorHash(section, floor, is_real);
}

void ExactSearch::Apply(const Branch& branch) {
  if (branch.item == kNone) {
    SetFloor(branch.section, branch.level, /*is_real=*/false);
    return;
  }
  const PlacementItem& item = problem_->items[branch.item];
  offsets_[branch.item] = branch.level;
  placed_[branch.item] = true;
  for (int32_t section = item.begin; section < item.end; ++section) {
    SetFloor(section, branch.level + item.size, /*is_real=*/true);
    unplaced_[section] -= item.size;
    joining_[section] -= section > item.begin;
  }
  starters_hash_[item.begin] ^= item_hashes_[branch.item];
  trail_.push_back({kNone, branch.item, 0, false, 0});
}

void ExactSearch::Undo(size_t trail_size) {
  while (trail_.size() > trail_size) {
    const Change change = trail_.back();
    trail_.pop_back();
    if (change.item == kNone) {
      floor_[change.section] = change.floor;
      is_real_[change.section] = change.is_real;
      floor_hash_[change.section] = change.floor_hash;
      continue;
    }
    const PlacementItem& item = problem_->items[change.item];
    placed_[change.item] = false;
    for (int32_t section = item.begin; section < item.end; ++section) {
      unplaced_[section] += item.size;
      joining_[section] += section > item.begin;
    }
    starters_hash_[item.begin] ^= item_hashes_[change.item];
  }
}

// Finds the first valley of the part [begin, end) from `*section` on, and moves
// `*section` to its end. Returns false if there is no further valley.
bool ExactSearch::NextValley(int32_t begin, int32_t end, int32_t* section,
                             Valley* valley) const {
  while (*section < end) {
    valley->begin = *section;
    valley->floor = floor_[*section];
    while (*section < end && floor_[*section] == valley->floor) ++*section;
    valley->end = *section;
    valley->left_wall =
        valley->begin > begin ? floor_[valley->begin - 1] : kUnbounded;
    valley->right_wall = valley->end < end ? floor_[valley->end] : kUnbounded;
    if (valley->left_wall > valley->floor &&
        valley->right_wall > valley->floor) {
      return true;
    }
  }
  return false;
}

// Returns false if a corner has no branch at all.
bool ExactSearch::ChooseCorner(int32_t begin, int32_t end, Choice* best) {
  best->score = std::numeric_limits<double>::infinity();
  Valley valley;
  for (int32_t section = begin; NextValley(begin, end, &section, &valley);) {
    for (const bool is_left : {true, false}) {
      const Corner corner = {valley, is_left};
      const int64_t spare = SpareIn(corner.section());
      const int64_t waste_level = spare > 0 ? WasteLevel(corner) : kUnbounded;
      const bool can_waste =
          waste_level != kUnbounded && waste_level - valley.floor <= spare;
      const int ways = CountFitting(corner) + (can_waste ? 1 : 0);
      if (ways == 0) return false;
      const double score = Score(corner, ways) * Jitter();
      if (score < best->score) {
        *best = {corner, score, can_waste ? waste_level : kUnbounded};
      }
    }
  }
  return true;
}

double ExactSearch::Score(const Corner& corner, int ways) const {
  constexpr double kStep = 1e6;
  const double capacity = static_cast<double>(capacity_);
  const double height = static_cast<double>(corner.valley.floor) / capacity;
  switch (effort_.corner_order) {
    case CornerOrder::kFewestThenLowest:
      return ways * kStep + height * 1e3;
    case CornerOrder::kFewestThenTightest:
      return ways * kStep +
             static_cast<double>(SpareIn(corner.section())) / capacity * 1e3;
    case CornerOrder::kForcedThenLowest:
      return ways <= 1 ? 1 : height * kStep + ways;
    case CornerOrder::kForcedThenFirst:
      return ways <= 1 ? 1 : corner.valley.begin * 10.0 + ways;
    case CornerOrder::kForcedThenLast:
      return ways <= 1
                 ? 1
                 : (problem_->section_count() - corner.valley.begin) * 10.0 +
                       ways;
  }
  return ways;
}

// Returns whether the item, which begins or ends in the corner's section, can
// lie on the valley's floor. An item that would lie only above waste belongs
// further down.
bool ExactSearch::Fits(const Corner& corner, int32_t index) const {
  if (placed_[index]) return false;
  const PlacementItem& item = problem_->items[index];
  if (item.begin < corner.valley.begin || item.end > corner.valley.end) {
    return false;
  }
  if (item.alignment == 1) {
    for (int32_t section = item.begin; section < item.end; ++section) {
      if (is_real_[section]) return true;
    }
    return false;
  }
  const int64_t waste =
      AlignUp(corner.valley.floor, item.alignment) - corner.valley.floor;
  for (int32_t section = item.begin; waste > 0 && section < item.end;
       ++section) {
    if (waste > SpareIn(section)) return false;
  }
  return true;
}

absl::Span<const int32_t> ExactSearch::ItemsAt(const Corner& corner) const {
  const int32_t section = corner.section();
  const std::vector<int32_t>& items = corner.is_left ? starters_ : enders_;
  const std::vector<int32_t>& begin =
      corner.is_left ? starters_begin_ : enders_begin_;
  return absl::MakeConstSpan(items).subspan(
      begin[section], begin[section + 1] - begin[section]);
}

int ExactSearch::CountFitting(const Corner& corner) const {
  int count = 0;
  for (const int32_t item : ItemsAt(corner)) count += Fits(corner, item);
  return count;
}

// Returns the least height at which an unplaced item that covers the corner's
// section can lie, other than on the valley's floor; kUnbounded if there is no
// such item.
int64_t ExactSearch::WasteLevel(const Corner& corner) const {
  const Valley& valley = corner.valley;
  const bool is_left = corner.is_left;
  // Items that cross the near wall lie on it.
  int64_t level = is_left ? valley.left_wall : valley.right_wall;
  int32_t reach = corner.section();
  for (const int32_t index : ItemsAt(corner)) {
    if (placed_[index]) continue;
    const PlacementItem& item = problem_->items[index];
    if (item.begin < valley.begin) {
      level = std::min(level, valley.left_wall);
    } else if (item.end > valley.end) {
      level = std::min(level, valley.right_wall);
    } else {
      reach =
          is_left ? std::max(reach, item.end - 1) : std::min(reach, item.begin);
    }
  }
  return std::min(level, LeastTopBeside(corner, reach));
}

// The remaining items end within the valley, at `reach` or before, and would
// lie on an item beside the section. Returns the least top that such an item
// can have.
int64_t ExactSearch::LeastTopBeside(const Corner& corner, int32_t reach) const {
  const Valley& valley = corner.valley;
  int64_t level = kUnbounded;
  const int32_t direction = corner.is_left ? 1 : -1;
  for (int32_t section = corner.section(); section != reach;) {
    section += direction;
    for (const int32_t index :
         ItemsAt({{section, section + 1, 0, 0, 0}, corner.is_left})) {
      if (placed_[index]) continue;
      const PlacementItem& item = problem_->items[index];
      const int64_t floor = item.begin < valley.begin ? valley.left_wall
                            : item.end > valley.end   ? valley.right_wall
                                                      : valley.floor;
      level = std::min(level, floor + item.size);
    }
  }
  return level;
}

void ExactSearch::ListBranches(const Choice& choice) {
  const Corner& corner = choice.corner;
  const size_t first = branches_.size();
  for (const int32_t item : ItemsAt(corner)) {
    if (!Fits(corner, item)) continue;
    const auto is_twin = [&](const Branch& branch) {
      return AreTwins(problem_->items[branch.item], problem_->items[item]);
    };
    if (std::any_of(branches_.begin() + first, branches_.end(), is_twin)) {
      continue;
    }
    branches_.push_back(
        {item, corner.section(),
         AlignUp(corner.valley.floor, problem_->items[item].alignment),
         (Preference(corner, item) + 20.0 / FewestThatLevel(corner, item)) *
             Jitter()});
  }
  std::stable_sort(
      branches_.begin() + first, branches_.end(),
      [](const Branch& a, const Branch& b) { return a.score > b.score; });
  if (choice.waste_level != kUnbounded) {
    branches_.push_back({kNone, corner.section(), choice.waste_level, 0});
  }
}

// Returns the least number of items, including this one, that bring the two
// sides of the corner's wall to one level: their total on this side equals the
// wall plus the items on the other side. Returns 1000 if it takes more than
// four or cannot be done.
int ExactSearch::FewestThatLevel(const Corner& corner, int32_t index) {
  constexpr int kMany = 1000;
  const Valley& valley = corner.valley;
  const int64_t wall = corner.is_left ? valley.left_wall : valley.right_wall;
  if (wall == kUnbounded) return kMany;
  const PlacementItem& item = problem_->items[index];
  const int64_t missing =
      wall - AlignUp(valley.floor, item.alignment) - item.size;
  if (missing == 0) return 1;
  level_sizes_.clear();
  for (const int32_t other : ItemsAt(corner)) {
    if (other != index && !placed_[other]) {
      level_sizes_.push_back(problem_->items[other].size);
    }
  }
  const int32_t across = corner.section() + (corner.is_left ? -1 : 1);
  for (const int32_t other :
       ItemsAt({{across, across + 1, 0, 0, 0}, !corner.is_left})) {
    if (!placed_[other]) level_sizes_.push_back(-problem_->items[other].size);
  }
  const std::vector<int64_t>& sizes = level_sizes_;
  int fewest = kMany;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == missing) return 2;
    for (size_t j = 0; j < i; ++j) {
      if (sizes[i] + sizes[j] == missing) fewest = std::min(fewest, 3);
      for (size_t k = 0; k < j && fewest > 4; ++k) {
        if (sizes[i] + sizes[j] + sizes[k] == missing) fewest = 4;
      }
    }
  }
  return fewest;
}

double ExactSearch::Preference(const Corner& corner, int32_t index) const {
  const PlacementItem& item = problem_->items[index];
  const Valley& valley = corner.valley;
  const double size = static_cast<double>(item.size) / capacity_;
  const double sections =
      static_cast<double>(item.end - item.begin) / problem_->section_count();
  const int64_t top = AlignUp(valley.floor, item.alignment) + item.size;
  const bool levels = (item.begin == valley.begin && top == valley.left_wall) ||
                      (item.end == valley.end && top == valley.right_wall);
  const double first = levels ? 10 : 0;
  switch (effort_.item_order) {
    case ItemOrder::kByArea:
      return first + size * sections;
    case ItemOrder::kByLifespan:
      return first + sections;
    case ItemOrder::kBySize:
      return first + size;
  }
  return first;
}

// Returns 1, or with a seed a random number up to 1.15 or 1.6. A small range
// repairs small mistakes of the order, a large one large mistakes.
double ExactSearch::Jitter() {
  if (effort_.seed == 0) return 1;
  const double range = effort_.seed % 2 == 1 ? 0.15 : 0.6;
  return 1 + range * random_.Uniform();
}

uint64_t ExactSearch::MakeKey(int32_t begin, int32_t end) const {
  uint64_t key = MixBits(static_cast<uint64_t>(capacity_));
  for (int32_t section = begin; section < end; ++section) {
    key += floor_hash_[section] ^ starters_hash_[section];
  }
  return MixBits(key) | 1;  // 0 marks an empty slot
}

bool ExactSearch::IsRuledOut(uint64_t key) const {
  return ruled_out_[(key >> 1) % ruled_out_.size()] == key;
}

void ExactSearch::RuleOut(uint64_t key) {
  ruled_out_[(key >> 1) % ruled_out_.size()] = key;
}

}  // namespace trainer_manager_internal
}  // namespace footprint
