#include "footprint/trainer_manager/planner/outward_sweep.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <tuple>
#include <utility>

#include "absl/time/clock.h"
#include "footprint/base/memory/alignment.h"
#include "footprint/base/random/random_sequence.h"

namespace footprint {
namespace trainer_manager_internal {
namespace {

constexpr int64_t kUnbounded = std::numeric_limits<int64_t>::max();
// The largest lifespan that counts as short; sweeps take these values in turn.
constexpr int32_t kShortSections[] = {3, 0, 8,
                                      std::numeric_limits<int32_t>::max()};
constexpr int64_t kItemsBetweenClocks = 1024;
// The first sweep of a stack that chooses some ends at random.
constexpr int64_t kOrderlySweeps = 4;

// The free bytes of one section. The last gap is unbounded.
class Gaps {
 public:
  struct Gap {
    int64_t low, high;
  };

  Gaps() : gaps_({{0, kUnbounded}}) {}

  const std::vector<Gap>& list() const { return gaps_; }

  // Takes [low, high), which lies in gap number `index`.
  void Take(size_t index, int64_t low, int64_t high) {
    Gap& gap = gaps_[index];
    const int64_t end = gap.high;
    if (gap.low < low && high < end) {
      gap.high = low;
      gaps_.insert(gaps_.begin() + index + 1, {high, end});
    } else if (gap.low < low) {
      gap.high = low;
    } else if (high < end) {
      gap.low = high;
    } else {
      gaps_.erase(gaps_.begin() + index);
    }
  }

  // Frees [low, high), which was taken.
  void Give(int64_t low, int64_t high) {
    const auto above = std::lower_bound(
        gaps_.begin(), gaps_.end(), low,
        [](const Gap& gap, int64_t offset) { return gap.low < offset; });
    const bool joins_below =
        above != gaps_.begin() && std::prev(above)->high == low;
    const bool joins_above = above != gaps_.end() && above->low == high;
    if (joins_below && joins_above) {
      std::prev(above)->high = above->high;
      gaps_.erase(above);
    } else if (joins_below) {
      std::prev(above)->high = high;
    } else if (joins_above) {
      above->low = low;
    } else {
      gaps_.insert(above, {low, high});
    }
  }

 private:
  std::vector<Gap> gaps_;  // ascending, not adjacent
};

// The way in which a sweep chooses gaps and their ends.
struct SweepStyle {
  bool is_best_fit;        // if false, first fit
  int32_t short_sections;  // tensors of at most this lifespan go high
  double whim;             // the probability to take the other end
};

// One direction. Sections count upwards from the fullest one: a tensor appears
// at `begins` and is gone at `ends`.
struct Direction {
  struct Item {
    int32_t index;
    int32_t begins, ends;
    int64_t size, alignment;
  };
  std::vector<Item> to_place;        // by `begins`, the largest first
  std::vector<int32_t> by_end;       // to_place and the stack, by `ends`
  std::vector<int32_t> end_section;  // `ends` of each item of the problem
};

class OutwardSweep {
 public:
  OutwardSweep(const PlacementProblem& problem, const SweepEffort& effort)
      : problem_(problem),
        effort_(effort),
        target_(std::min(effort.target_height, kUnbounded - 1)),
        random_(effort.seed),
        fullest_(FullestSection(problem)),
        offsets_(problem.items.size(), 0) {
    for (size_t i = 0; i < problem.items.size(); ++i) {
      const PlacementItem& item = problem.items[i];
      if (item.begin <= fullest_ && fullest_ < item.end) {
        stack_.push_back(static_cast<int32_t>(i));
      }
    }
    forwards_ = MakeDirection(/*is_forwards=*/true);
    backwards_ = MakeDirection(/*is_forwards=*/false);
  }

  std::vector<int64_t> Run() {
    std::vector<int64_t> best;
    int64_t best_height = kUnbounded;
    is_late_ = absl::Now() > effort_.deadline;
    for (int64_t i = 0; i < effort_.stack_limit && !is_late_; ++i) {
      int64_t height = PlaceStack(i);
      height = std::max(height, PlaceBeside(forwards_, best_height));
      if (height < best_height) {
        height = std::max(height, PlaceBeside(backwards_, best_height));
      }
      if (height >= best_height) continue;
      best_height = height;
      best = offsets_;
      if (height <= target_) break;
    }
    return best;
  }

 private:
  Direction MakeDirection(bool is_forwards) const {
    Direction direction;
    direction.end_section.resize(problem_.items.size());
    direction.by_end = stack_;
    for (size_t i = 0; i < problem_.items.size(); ++i) {
      const PlacementItem& item = problem_.items[i];
      const int32_t begins =
          is_forwards ? item.begin - fullest_ : fullest_ - item.end + 1;
      const int32_t ends =
          is_forwards ? item.end - fullest_ : fullest_ - item.begin + 1;
      direction.end_section[i] = ends;
      if (begins <= 0) continue;
      const int32_t index = static_cast<int32_t>(i);
      direction.to_place.push_back(
          {index, begins, ends, item.size, item.alignment});
      direction.by_end.push_back(index);
    }
    std::sort(direction.to_place.begin(), direction.to_place.end(),
              [](const Direction::Item& a, const Direction::Item& b) {
                return std::make_tuple(a.begins, -a.size, -a.ends, a.index) <
                       std::make_tuple(b.begins, -b.size, -b.ends, b.index);
              });
    const std::vector<int32_t>& end_section = direction.end_section;
    std::sort(direction.by_end.begin(), direction.by_end.end(),
              [&end_section](int32_t a, int32_t b) {
                return std::make_pair(end_section[a], a) <
                       std::make_pair(end_section[b], b);
              });
    return direction;
  }

  // Places the stack and returns its height.
  int64_t PlaceStack(int64_t turn) {
    std::vector<std::pair<double, int32_t>> order;
    order.reserve(stack_.size());
    for (const int32_t index : stack_) {
      const PlacementItem& item = problem_.items[index];
      double sections = item.end - item.begin;
      if (turn == 1) sections = item.end - fullest_;
      if (turn == 2) sections = fullest_ - item.begin;
      if (turn > 2) sections *= 1 + 0.1 * random_.Uniform();
      order.push_back({-sections, index});
    }
    std::sort(order.begin(), order.end());
    int64_t top = 0;
    full_ = Gaps();
    for (const auto& [key, index] : order) {
      const PlacementItem& item = problem_.items[index];
      offsets_[index] = AlignUp(top, item.alignment);
      top = offsets_[index] + item.size;
      full_.Take(full_.list().size() - 1, offsets_[index], top);
    }
    return top;
  }

  // Takes the best of several sweeps. Returns its height, or `limit` if none
  // stays below.
  int64_t PlaceBeside(const Direction& direction, int64_t limit) {
    if (direction.to_place.empty()) return 0;
    std::vector<int64_t> best;
    for (int64_t i = 0; i < effort_.sweep_limit && !is_late_; ++i) {
      SweepStyle style;
      style.is_best_fit = i / kOrderlySweeps % 2 == 0;
      style.short_sections = kShortSections[i % kOrderlySweeps];
      style.whim = i < kOrderlySweeps ? 0 : 0.2;
      const int64_t height = Sweep(direction, style, limit);
      if (height >= limit) continue;
      limit = height;
      best = offsets_;
      if (height <= target_) break;
    }
    if (!best.empty()) offsets_ = std::move(best);
    return limit;
  }

  // Gives up if the height reaches `limit`.
  int64_t Sweep(const Direction& direction, const SweepStyle& style,
                int64_t limit) {
    Gaps gaps = full_;
    int64_t height = 0;
    size_t ended = 0;
    for (const Direction::Item& item : direction.to_place) {
      for (; ended < direction.by_end.size(); ++ended) {
        const int32_t index = direction.by_end[ended];
        if (direction.end_section[index] > item.begins) break;
        gaps.Give(offsets_[index],
                  offsets_[index] + problem_.items[index].size);
      }
      if (++placed_ % kItemsBetweenClocks == 0) {
        is_late_ = absl::Now() > effort_.deadline;
        if (is_late_) return limit;
      }
      const int64_t top = Place(item, style, &gaps);
      height = std::max(height, top);
      if (height >= limit) return limit;
    }
    return height;
  }

  // Places the item and returns its top, or kUnbounded if the top does not fit
  // 64 bits.
  int64_t Place(const Direction::Item& item, const SweepStyle& style,
                Gaps* gaps) {
    bool goes_high = item.ends - item.begins <= style.short_sections;
    if (style.whim > 0 && random_.Uniform() < style.whim)
      goes_high = !goes_high;
    const std::vector<Gaps::Gap>& list = gaps->list();
    size_t chosen = list.size() - 1;
    if (list[chosen].low > kUnbounded - item.size - item.alignment) {
      return kUnbounded;
    }
    int64_t offset = AlignUp(list[chosen].low, item.alignment);
    int64_t least_room = kUnbounded;
    for (size_t i = 0; i < list.size(); ++i) {
      const int64_t high = std::min(list[i].high, target_);
      const int64_t low = AlignUp(list[i].low, item.alignment);
      if (low > high - item.size) continue;
      const bool is_better = high - low < least_room || goes_high;
      if (style.is_best_fit && !(high - low <= least_room && is_better)) {
        continue;
      }
      least_room = high - low;
      chosen = i;
      offset = goes_high ? (high - item.size) & ~(item.alignment - 1) : low;
      if (!style.is_best_fit && !goes_high) break;
    }
    offsets_[item.index] = offset;
    gaps->Take(chosen, offset, offset + item.size);
    return offset + item.size;
  }

  const PlacementProblem& problem_;
  const SweepEffort& effort_;
  const int64_t target_;  // also bounds the last gap
  RandomSequence random_;
  const int32_t fullest_;
  std::vector<int32_t> stack_;  // items live in the fullest section
  Direction forwards_;
  Direction backwards_;
  std::vector<int64_t> offsets_;
  Gaps full_;           // the gaps of the fullest section
  int64_t placed_ = 0;  // items, in all sweeps
  bool is_late_ = false;
};

}  // namespace

std::vector<int64_t> PlaceOutwards(const PlacementProblem& problem,
                                   const SweepEffort& effort) {
  if (problem.items.empty()) return {};
  return OutwardSweep(problem, effort).Run();
}

}  // namespace trainer_manager_internal
}  // namespace footprint
