#include "footprint/trainer_manager/planner/merged_items.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include "footprint/base/random/random_sequence.h"
#include "footprint/trainer_manager/planner/plan.h"

namespace footprint {
namespace trainer_manager_internal {
namespace {

// The most items that begin or end together and are tried for a pinwheel.
constexpr size_t kMostTried = 16;
// The most items with equal lifespans that are tried as a stack.
constexpr size_t kMostTwins = 8;
// Smaller sizes are often equal by chance. The unit is the largest number that
// divides all sizes.
constexpr int64_t kLeastTellingUnits = 16;

// Finds figures by two numbers.
class FigureIndex {
 public:
  struct Entry {
    int64_t first, second;
    int32_t id;
  };

  void Add(const Entry& entry) { entries_.push_back(entry); }

  void Sort() {
    std::sort(entries_.begin(), entries_.end(),
              [](const Entry& a, const Entry& b) {
                return IsBelow(a, b) || (!IsBelow(b, a) && a.id < b.id);
              });
  }

  absl::Span<const Entry> Find(int64_t first, int64_t second) const {
    return Between({first, second, 0}, {first, second, 0});
  }

  absl::Span<const Entry> Find(int64_t first) const {
    return Between({first, 0, 0},
                   {first, std::numeric_limits<int64_t>::max(), 0});
  }

 private:
  static bool IsBelow(const Entry& a, const Entry& b) {
    return a.first != b.first ? a.first < b.first : a.second < b.second;
  }

  absl::Span<const Entry> Between(const Entry& low, const Entry& high) const {
    const auto begin =
        std::lower_bound(entries_.begin(), entries_.end(), low, IsBelow);
    const auto end = std::upper_bound(begin, entries_.end(), high, IsBelow);
    return absl::MakeConstSpan(entries_).subspan(begin - entries_.begin(),
                                                 end - begin);
  }

  std::vector<Entry> entries_;
};

// Returns the outermost figures with equal lifespans, in groups of two or more,
// the longest lifespans first.
template <typename Figures>
std::vector<std::vector<int32_t>> FindTwins(
    const Figures& figures, const std::vector<int32_t>& outermost) {
  std::vector<int32_t> order = outermost;
  const auto key = [&figures](int32_t f) {
    const PlacementItem& item = figures[f].item;
    return std::make_tuple(item.begin - item.end, item.begin, -item.alignment,
                           f);
  };
  std::sort(order.begin(), order.end(),
            [&key](int32_t a, int32_t b) { return key(a) < key(b); });
  std::vector<std::vector<int32_t>> twins;
  for (size_t i = 0; i < order.size();) {
    const PlacementItem& item = figures[order[i]].item;
    const size_t first = i;
    while (i < order.size() && figures[order[i]].item.begin == item.begin &&
           figures[order[i]].item.end == item.end) {
      ++i;
    }
    if (i - first < 2) continue;
    twins.emplace_back(order.begin() + first, order.begin() + i);
  }
  return twins;
}

}  // namespace

// Makes a MergedItems. In addition to figures it holds stacks of twins, that is
// of items with equal lifespans. A stack becomes a figure only as a part of
// another figure.
class ItemMerger {
 public:
  using Figure = MergedItems::Figure;
  using Part = MergedItems::Part;

  ItemMerger(uint64_t seed, MergedItems* merged)
      : random_(seed),
        chance_to_leave_(seed == 0 ? 0 : 0.5 + 0.5 / static_cast<double>(seed)),
        figures_(merged->figures_),
        parts_(merged->parts_),
        outermost_(merged->outermost_),
        is_part_(figures_.size(), false) {
    int64_t unit = 0;
    for (const Figure& figure : figures_) {
      unit = std::gcd(unit, figure.item.size);
    }
    least_telling_size_ = unit * (kLeastTellingUnits << (seed % 8));
  }

  void Run() {
    while (MergeByEvidence() || JoinSuccessors(/*least_size=*/0) ||
           StackLongestTwins()) {
      DropParts();
    }
  }

 private:
  // Items with equal lifespans, one above the other.
  struct Stack {
    std::vector<int32_t> figures;  // the most aligned one first
    PlacementItem item;
  };

  // An id is the id of a figure or, if negative, ~i for stacks_[i].
  const PlacementItem& Item(int32_t id) const {
    return id < 0 ? stacks_[~id].item : figures_[id].item;
  }

  bool IsFree(int32_t id) const {
    if (id >= 0) return !is_part_[id];
    const std::vector<int32_t>& figures = stacks_[~id].figures;
    return std::all_of(figures.begin(), figures.end(),
                       [this](int32_t f) { return !is_part_[f]; });
  }

  std::vector<int32_t> FreeIds() const {
    std::vector<int32_t> ids;
    ids.reserve(outermost_.size() + stacks_.size());
    for (const int32_t f : outermost_) {
      if (!is_part_[f]) ids.push_back(f);
    }
    for (size_t i = 0; i < stacks_.size(); ++i) {
      if (IsFree(~static_cast<int32_t>(i))) ids.push_back(~i);
    }
    return ids;
  }

  // Merges as long as it finds equal sizes that are unlikely by chance.
  bool MergeByEvidence() {
    bool found = false;
    while (JoinSuccessors(least_telling_size_) || FoldPinwheels()) {
      found = true;
      DropParts();
    }
    ListStacks();
    found |= JoinSuccessors(least_telling_size_);
    found |= FoldPinwheels();
    stacks_.clear();
    return found;
  }

  bool JoinSuccessors(int64_t least_size) {
    const std::vector<int32_t> ids = FreeIds();
    FigureIndex by_begin;
    for (const int32_t id : ids) {
      by_begin.Add({Item(id).begin, Item(id).size, id});
    }
    by_begin.Sort();
    bool found = false;
    for (const int32_t id : ids) {
      if (Item(id).size < least_size || !IsFree(id)) continue;
      if (least_size == 0 && Leaves()) continue;
      for (const auto& next : by_begin.Find(Item(id).end, Item(id).size)) {
        if (!IsFree(next.id)) continue;
        found |= Merge({{id, 0}, {next.id, 0}});
        break;
      }
    }
    return found;
  }

  bool FoldPinwheels() {
    const std::vector<int32_t> ids = FreeIds();
    by_begin_ = FigureIndex();
    by_end_ = FigureIndex();
    by_lifespan_ = FigureIndex();
    for (const int32_t id : ids) {
      by_begin_.Add({Item(id).begin, Item(id).size, id});
      by_end_.Add({Item(id).end, Item(id).size, id});
      by_lifespan_.Add({Item(id).begin, Item(id).end, id});
    }
    by_begin_.Sort();
    by_end_.Sort();
    by_lifespan_.Sort();
    bool found = false;
    for (const int32_t id : ids) {
      if (IsFree(id)) found |= FoldAround(id);
    }
    return found;
  }

  bool FoldAround(int32_t centre) {
    const PlacementItem c = Item(centre);
    for (const auto& top : by_begin_.Find(c.begin).subspan(0, kMostTried)) {
      const PlacementItem& t = Item(top.id);
      if (t.end <= c.end || !IsFree(top.id)) continue;
      for (const auto& left :
           by_end_.Find(c.begin, c.size + t.size).subspan(0, kMostTried)) {
        if (IsFree(left.id) && FoldAround(centre, top.id, left.id)) return true;
      }
    }
    return false;
  }

  bool FoldAround(int32_t centre, int32_t top, int32_t left) {
    const PlacementItem c = Item(centre);
    for (const auto& bottom :
         by_lifespan_.Find(Item(left).begin, c.end).subspan(0, kMostTried)) {
      if (!IsFree(bottom.id)) continue;
      const int64_t bottom_size = Item(bottom.id).size;
      for (const auto& right :
           by_begin_.Find(c.end, c.size + bottom_size).subspan(0, kMostTried)) {
        if (!IsFree(right.id) || Item(right.id).end != Item(top).end) continue;
        return Merge({{bottom.id, 0},
                      {right.id, 0},
                      {left, bottom_size},
                      {centre, bottom_size},
                      {top, bottom_size + c.size}});
      }
    }
    return false;
  }

  // Lists the stacks of two and of three twins.
  void ListStacks() {
    for (const std::vector<int32_t>& twins : FindTwins(figures_, outermost_)) {
      const size_t count = std::min(twins.size(), kMostTwins);
      for (size_t i = 0; i < count; ++i) {
        for (size_t j = i + 1; j < count; ++j) {
          AddStack({twins[i], twins[j]});
          for (size_t k = j + 1; k < count; ++k) {
            AddStack({twins[i], twins[j], twins[k]});
          }
        }
      }
    }
  }

  // Adds the stack, if the alignments let the figures lie on each other.
  void AddStack(std::vector<int32_t> figures) {
    PlacementItem item = Item(figures[0]);
    for (size_t i = 1; i < figures.size(); ++i) {
      if (item.size % Item(figures[i]).alignment != 0) return;
      item.size += Item(figures[i]).size;
    }
    stacks_.push_back({std::move(figures), item});
  }

  // Nothing else tells which twins belong together. Long lifespans are seldom
  // equal by chance.
  bool StackLongestTwins() {
    const std::vector<std::vector<int32_t>> groups =
        FindTwins(figures_, outermost_);
    size_t left = 1 + groups.size() / 16;
    for (const std::vector<int32_t>& twins : groups) {
      if (Leaves()) continue;
      const size_t i =
          chance_to_leave_ > 0 ? random_.Next() % (twins.size() - 1) : 0;
      if (Merge({{twins[i], 0}, {twins[i + 1], Item(twins[i]).size}}) &&
          --left == 0)
        break;
    }
    return left < 1 + groups.size() / 16;
  }

  // Returns false if an alignment does not allow the parts' offsets.
  bool Merge(std::vector<Part> parts) {
    for (Part& part : parts) {
      if (part.offset % Item(part.id).alignment != 0) return false;
    }
    for (Part& part : parts) {
      if (part.id >= 0) continue;
      std::vector<Part> stacked;
      int64_t offset = 0;
      for (const int32_t f : stacks_[~part.id].figures) {
        stacked.push_back({f, offset});
        offset += Item(f).size;
      }
      part.id = AddFigure(stacked);
    }
    outermost_.push_back(AddFigure(parts));
    return true;
  }

  int32_t AddFigure(const std::vector<Part>& parts) {
    Figure whole;
    whole.item = Item(parts[0].id);
    whole.parts_begin = parts_.size();
    whole.parts_end = parts_.size() + parts.size();
    for (const Part& part : parts) {
      const PlacementItem& item = Item(part.id);
      whole.item.begin = std::min(whole.item.begin, item.begin);
      whole.item.end = std::max(whole.item.end, item.end);
      whole.item.size = std::max(whole.item.size, part.offset + item.size);
      whole.item.alignment = std::max(whole.item.alignment, item.alignment);
      is_part_[part.id] = true;
    }
    parts_.insert(parts_.end(), parts.begin(), parts.end());
    figures_.push_back(whole);
    is_part_.push_back(false);
    return static_cast<int32_t>(figures_.size()) - 1;
  }

  bool Leaves() {
    return chance_to_leave_ > 0 && random_.Uniform() < chance_to_leave_;
  }

  void DropParts() {
    outermost_.erase(std::remove_if(outermost_.begin(), outermost_.end(),
                                    [this](int32_t f) { return is_part_[f]; }),
                     outermost_.end());
  }

  RandomSequence random_;
  const double chance_to_leave_;
  int64_t least_telling_size_;
  std::vector<Figure>& figures_;
  std::vector<Part>& parts_;
  std::vector<int32_t>& outermost_;  // also holds parts until DropParts
  std::vector<char> is_part_;        // of each figure
  std::vector<Stack> stacks_;
  FigureIndex by_begin_;  // and by size
  FigureIndex by_end_;    // and by size
  FigureIndex by_lifespan_;
};

MergedItems::MergedItems(const PlacementProblem& problem, uint64_t seed)
    : item_count_(problem.items.size()), outermost_(problem.items.size()) {
  figures_.reserve(2 * item_count_);
  for (const PlacementItem& item : problem.items) {
    figures_.push_back({item, 0, 0});
  }
  std::iota(outermost_.begin(), outermost_.end(), 0);
  ItemMerger(seed, this).Run();
  std::vector<TensorRequest> requests;
  requests.reserve(outermost_.size());
  for (const int32_t f : outermost_) {
    const PlacementItem& item = figures_[f].item;
    requests.push_back({"", item.begin, item.end, item.size, item.alignment});
  }
  problem_ = MakePlacementProblem(requests);
}

std::vector<int64_t> MergedItems::OffsetsOfItems(
    absl::Span<const int64_t> offsets) const {
  std::vector<int64_t> all(figures_.size(), 0);
  for (size_t i = 0; i < outermost_.size(); ++i) {
    all[outermost_[i]] = offsets[i];
  }
  for (size_t f = figures_.size(); f-- > item_count_;) {
    for (size_t p = figures_[f].parts_begin; p < figures_[f].parts_end; ++p) {
      all[parts_[p].id] = all[f] + parts_[p].offset;
    }
  }
  all.resize(item_count_);
  return all;
}

}  // namespace trainer_manager_internal
}  // namespace footprint
