#include "footprint/trainer_manager/ordered_placement.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <tuple>
#include <utility>

namespace footprint {
namespace trainer_manager_internal {
namespace {

// Heights over cells; a height is only ever raised.
class Skyline {
 public:
  explicit Skyline(int32_t cell_count) {
    while (leaf_count_ < cell_count) leaf_count_ *= 2;
    highest_.assign(2 * leaf_count_, 0);
    everywhere_.assign(2 * leaf_count_, 0);
  }

  int64_t HighestIn(int32_t begin, int32_t end) const {
    return HighestIn(1, 0, leaf_count_, begin, end);
  }
  // `height` is not below HighestIn(begin, end).
  void RaiseTo(int32_t begin, int32_t end, int64_t height) {
    RaiseTo(1, 0, leaf_count_, begin, end, height);
  }

 private:
  int64_t HighestIn(int32_t node, int32_t node_begin, int32_t node_end,
                    int32_t begin, int32_t end) const {
    if (end <= node_begin || node_end <= begin) return 0;
    if (begin <= node_begin && node_end <= end) return highest_[node];
    const int32_t middle = (node_begin + node_end) / 2;
    return std::max({everywhere_[node],
                     HighestIn(2 * node, node_begin, middle, begin, end),
                     HighestIn(2 * node + 1, middle, node_end, begin, end)});
  }
  void RaiseTo(int32_t node, int32_t node_begin, int32_t node_end,
               int32_t begin, int32_t end, int64_t height) {
    if (end <= node_begin || node_end <= begin) return;
    highest_[node] = std::max(highest_[node], height);
    if (begin <= node_begin && node_end <= end) {
      everywhere_[node] = height;
      return;
    }
    const int32_t middle = (node_begin + node_end) / 2;
    RaiseTo(2 * node, node_begin, middle, begin, end, height);
    RaiseTo(2 * node + 1, middle, node_end, begin, end, height);
  }

  int32_t leaf_count_ = 1;
  std::vector<int64_t> highest_;     // anywhere below the node
  std::vector<int64_t> everywhere_;  // below the node, at least
};

// The cell in which the items need most bytes.
int32_t FullestCell(const PlacementProblem& problem) {
  std::vector<int64_t> change(problem.cell_count() + 1, 0);
  for (const PlacementItem& item : problem.items) {
    change[item.begin] += item.size;
    change[item.end] -= item.size;
  }
  std::partial_sum(change.begin(), change.end(), change.begin());
  return static_cast<int32_t>(std::max_element(change.begin(), change.end()) -
                              change.begin());
}

}  // namespace

std::vector<int32_t> OrderOf(const PlacementProblem& problem,
                             PlacementOrder order) {
  std::vector<int32_t> result(problem.items.size());
  std::iota(result.begin(), result.end(), 0);
  const int32_t peak =
      order == PlacementOrder::kFromPeak ? FullestCell(problem) : 0;
  const auto key = [&](int32_t index) {
    const PlacementItem& item = problem.items[index];
    const double size = static_cast<double>(item.size);
    const double cells = item.end - item.begin;
    switch (order) {
      case PlacementOrder::kByStart:
        return std::make_tuple(static_cast<double>(item.begin), -cells, -size);
      case PlacementOrder::kBySize:
        return std::make_tuple(-size, -cells, 0.0);
      case PlacementOrder::kByLifespan:
        return std::make_tuple(-cells, -size, 0.0);
      case PlacementOrder::kByArea:
        return std::make_tuple(-size * cells, -cells, -size);
      case PlacementOrder::kFromPeak: {
        const int32_t distance =
            std::max({0, item.begin - peak, peak - (item.end - 1)});
        return distance == 0 ? std::make_tuple(0.0, -cells, -size)
                             : std::make_tuple(static_cast<double>(distance),
                                               -size, -cells);
      }
    }
    return std::make_tuple(0.0, 0.0, 0.0);
  };
  std::stable_sort(result.begin(), result.end(),
                   [&](int32_t a, int32_t b) { return key(a) < key(b); });
  return result;
}

std::vector<int64_t> PlaceSideBySide(const PlacementProblem& problem) {
  std::vector<int64_t> offsets;
  offsets.reserve(problem.items.size());
  int64_t top = 0;
  for (const PlacementItem& item : problem.items) {
    offsets.push_back(AlignUp(top, item.alignment));
    top = offsets.back() + item.size;
  }
  return offsets;
}

std::vector<int64_t> PlaceByFirstFit(const PlacementProblem& problem,
                                     absl::Span<const int32_t> order) {
  std::vector<int64_t> offsets(problem.items.size(), 0);
  std::vector<std::pair<int64_t, int64_t>> taken;  // offset and top
  for (size_t i = 0; i < order.size(); ++i) {
    const PlacementItem& item = problem.items[order[i]];
    taken.clear();
    for (const int32_t other_index : order.first(i)) {
      const PlacementItem& other = problem.items[other_index];
      if (other.begin < item.end && item.begin < other.end) {
        const int64_t offset = offsets[other_index];
        taken.push_back({offset, offset + other.size});
      }
    }
    std::sort(taken.begin(), taken.end());
    int64_t offset = 0;
    for (const auto& [other_offset, other_top] : taken) {
      if (offset + item.size <= other_offset) break;
      offset = std::max(offset, AlignUp(other_top, item.alignment));
    }
    offsets[order[i]] = offset;
  }
  return offsets;
}

std::vector<int64_t> PlaceOnSkyline(const PlacementProblem& problem,
                                    absl::Span<const int32_t> order) {
  std::vector<int64_t> offsets(problem.items.size(), 0);
  Skyline skyline(problem.cell_count());
  for (const int32_t index : order) {
    const PlacementItem& item = problem.items[index];
    offsets[index] =
        AlignUp(skyline.HighestIn(item.begin, item.end), item.alignment);
    skyline.RaiseTo(item.begin, item.end, offsets[index] + item.size);
  }
  return offsets;
}

}  // namespace trainer_manager_internal
}  // namespace footprint
