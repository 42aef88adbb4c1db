#include "footprint/memo/schedule/tiled_orders.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

namespace footprint::memo_internal {
namespace {

// A cut of an axis into blocks of neighbouring ranks, none above the capacity
// unless it is a single value.
struct Cut {
  int64_t block_count = 1;
  int64_t capacity_bytes = 0;
};

// The values of one axis, each with its rank: the position of its first cell,
// or with `by_density` its position among the values sorted by load cost per
// byte.
class Axis {
 public:
  Axis(const ScheduleRequest& request, const std::vector<int>& cells,
       size_t axis, bool by_density)
      : rank_(request.values.size(), -1) {
    std::vector<int> values;
    for (int cell : cells) {
      const int value = request.cells[static_cast<size_t>(cell)].values[axis];
      int& rank = rank_[static_cast<size_t>(value)];
      if (rank < 0) values.push_back(value);
      rank = 0;
    }
    if (by_density) SortByDensity(request, &values);
    bytes_before_.push_back(0);
    for (int value : values) {
      const PlannedValue& planned = request.values[static_cast<size_t>(value)];
      rank_[static_cast<size_t>(value)] =
          static_cast<int>(bytes_before_.size()) - 1;
      bytes_before_.push_back(bytes_before_.back() + planned.bytes);
      load_cost_ += static_cast<double>(planned.load_cost);
      largest_bytes_ = std::max(largest_bytes_, planned.bytes);
    }
  }

  int64_t size() const {
    return static_cast<int64_t>(bytes_before_.size()) - 1;
  }
  int Rank(int value) const { return rank_[static_cast<size_t>(value)]; }
  int64_t largest_bytes() const { return largest_bytes_; }
  double load_cost() const { return load_cost_; }

  // Returns the block of each rank.
  std::vector<int64_t> Blocks(int64_t capacity_bytes) const {
    std::vector<int64_t> blocks;
    for (size_t begin = 0; begin + 1 < bytes_before_.size();) {
      const size_t end = EndOfBlock(begin, capacity_bytes);
      const int64_t block = blocks.empty() ? 0 : blocks.back() + 1;
      blocks.insert(blocks.end(), end - begin, block);
      begin = end;
    }
    return blocks;
  }

  // Returns the least capacities for several numbers of blocks: for all small
  // numbers, then in steps of a twentieth, and for single values.
  std::vector<Cut> Cuts() const {
    std::vector<Cut> cuts;
    const int64_t most = std::min(size(), kMostBlocks);
    for (int64_t count = 1; count < most; count += 1 + count / 20) {
      const Cut cut = EvenCut(count);
      if (cuts.empty() || cut.block_count > cuts.back().block_count) {
        cuts.push_back(cut);
      }
    }
    cuts.push_back({size(), largest_bytes_});
    return cuts;
  }

 private:
  static constexpr int64_t kMostBlocks = 1024;

  static void SortByDensity(const ScheduleRequest& request,
                            std::vector<int>* values) {
    const auto density = [&request](int value) {
      const PlannedValue& planned = request.values[static_cast<size_t>(value)];
      return static_cast<double>(planned.load_cost) /
             static_cast<double>(std::max<int64_t>(1, planned.bytes));
    };
    std::stable_sort(values->begin(), values->end(),
                     [&](int a, int b) { return density(a) > density(b); });
  }

  // Returns the end of the block that begins at rank `begin`. A block has at
  // least one value.
  size_t EndOfBlock(size_t begin, int64_t capacity_bytes) const {
    // The capacity may be kNoBudget, so it is limited to avoid an overflow.
    const int64_t most_bytes =
        std::min(capacity_bytes, bytes_before_.back()) + bytes_before_[begin];
    const auto end = std::upper_bound(
        bytes_before_.begin() + static_cast<ptrdiff_t>(begin) + 2,
        bytes_before_.end(), most_bytes);
    return static_cast<size_t>(end - bytes_before_.begin()) - 1;
  }

  // Returns the number of blocks, or more than `most` if there are more.
  int64_t CountBlocks(int64_t capacity_bytes, int64_t most) const {
    int64_t count = 0;
    for (size_t begin = 0; begin + 1 < bytes_before_.size() && count <= most;
         ++count) {
      begin = EndOfBlock(begin, capacity_bytes);
    }
    return count;
  }

  // Returns the least capacity that needs at most `block_count` blocks.
  Cut EvenCut(int64_t block_count) const {
    int64_t low = largest_bytes_;
    int64_t high = bytes_before_.back();
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      if (CountBlocks(middle, block_count) <= block_count) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return {CountBlocks(low, block_count), low};
  }

  std::vector<int> rank_;
  // The sum of bytes before each rank, and the sum of all.
  std::vector<int64_t> bytes_before_;
  int64_t largest_bytes_ = 0;
  double load_cost_ = 0;
};

// A cut of every axis. Tiles are the combinations of blocks, and run one after
// the other. The block of the last axis in `nesting` changes fastest, and each
// axis alternates between forward and backward.
struct Tiling {
  std::vector<size_t> nesting;
  std::vector<Cut> cuts;  // in the order of `nesting`
  bool by_density = false;
  // Estimates for a full product.
  double load_cost = 0;
  int64_t tile_bytes = 0;
};

bool IsBetter(const Tiling& left, const Tiling& right) {
  if (left.load_cost != right.load_cost) {
    return left.load_cost < right.load_cost;
  }
  return left.tile_bytes < right.tile_bytes;
}

// Collects tilings whose tiles fit, and keeps those with the lowest estimated
// cost.
class TilingProposals {
 public:
  explicit TilingProposals(size_t most_tilings) : most_tilings_(most_tilings) {}

  // Adds tilings of these axes, with the axes nested in several orders.
  void Add(const std::vector<Axis>& axes, bool by_density, int64_t room_bytes) {
    axes_ = &axes;
    room_bytes_ = room_bytes;
    cuts_.clear();
    for (const Axis& axis : axes) cuts_.push_back(axis.Cuts());
    Tiling tiling;
    tiling.by_density = by_density;
    tiling.nesting.resize(axes.size());
    std::iota(tiling.nesting.begin(), tiling.nesting.end(), 0);
    if (axes.size() <= kMostPermutedAxes) {
      do {
        Extend(1, &tiling);
      } while (
          std::next_permutation(tiling.nesting.begin(), tiling.nesting.end()));
      return;
    }
    for (size_t turn = 0; turn < axes.size(); ++turn) {
      Extend(1, &tiling);
      std::rotate(tiling.nesting.begin(), tiling.nesting.begin() + 1,
                  tiling.nesting.end());
    }
  }

  // Returns the tilings, the best first.
  std::vector<Tiling> Take() {
    KeepBest();
    return std::move(tilings_);
  }

 private:
  static constexpr size_t kMostPermutedAxes = 4;
  // The most combinations of cuts for one nesting.
  static constexpr double kMostCombinations = 1024;

  void KeepBest() {
    std::stable_sort(tilings_.begin(), tilings_.end(), IsBetter);
    if (tilings_.size() > most_tilings_) tilings_.resize(most_tilings_);
  }

  // Cuts the next axis. `tile_count` is the number of tiles of the axes outside
  // it.
  void Extend(double tile_count, Tiling* tiling) {
    const size_t depth = tiling->cuts.size();
    if (depth == axes_->size()) {
      tilings_.push_back(*tiling);
      if (tilings_.size() > 2 * most_tilings_ + 64) KeepBest();
      return;
    }
    const std::vector<Cut>& cuts = cuts_[tiling->nesting[depth]];
    const int64_t left_bytes = LeftBytes(*tiling);
    const bool is_last = depth + 1 == axes_->size();
    const size_t stride = is_last ? 1 : Stride(cuts.size());
    for (size_t i = 0; i < cuts.size();) {
      // If no cut fits, the axis is cut into single values.
      const bool is_finest = i + 1 == cuts.size();
      if (cuts[i].capacity_bytes <= left_bytes || is_finest) {
        ExtendBy(cuts[i], tile_count, tiling);
        // The innermost axis takes the room that remains.
        if (is_last) return;
      }
      i = is_finest ? cuts.size() : std::min(i + stride, cuts.size() - 1);
    }
  }

  void ExtendBy(const Cut& cut, double tile_count, Tiling* tiling) {
    const Axis& axis = (*axes_)[tiling->nesting[tiling->cuts.size()]];
    const auto block_count = static_cast<double>(cut.block_count);
    const double cost_before = tiling->load_cost;
    // When the axis turns around, its block stays loaded.
    tiling->load_cost +=
        axis.load_cost() * (tile_count - (tile_count - 1) / block_count);
    tiling->tile_bytes += cut.capacity_bytes;
    tiling->cuts.push_back(cut);
    Extend(tile_count * block_count, tiling);
    tiling->cuts.pop_back();
    tiling->tile_bytes -= cut.capacity_bytes;
    tiling->load_cost = cost_before;
  }

  // Returns the bytes that the next axis may take, beside the axes that are cut
  // and one value of each other axis.
  int64_t LeftBytes(const Tiling& tiling) const {
    int64_t left_bytes = room_bytes_ - tiling.tile_bytes;
    for (size_t i = tiling.cuts.size() + 1; i < axes_->size(); ++i) {
      left_bytes -= (*axes_)[tiling.nesting[i]].largest_bytes();
    }
    return left_bytes;
  }

  // Returns more than 1 if all combinations of cuts would be too many.
  size_t Stride(size_t cut_count) const {
    const double most = std::pow(kMostCombinations,
                                 1.0 / static_cast<double>(axes_->size() - 1));
    return static_cast<size_t>(
        std::ceil(static_cast<double>(cut_count) / most));
  }

  const size_t most_tilings_;
  const std::vector<Axis>* axes_ = nullptr;
  int64_t room_bytes_ = 0;
  std::vector<std::vector<Cut>> cuts_;
  std::vector<Tiling> tilings_;
};

// Keys that sort the cells. A key has the block numbers of the axes in their
// nesting, alternately counted forward and backward so that neighbouring tiles
// differ in one block only, and then the ranks within the blocks. It is a list
// of numbers per cell, since their product would overflow if there are many
// axes.
class CellKeys {
 public:
  CellKeys(const std::vector<Axis>& axes, const Tiling& tiling,
           size_t cell_count)
      : axes_(axes), nesting_(tiling.nesting) {
    numbers_.reserve(2 * nesting_.size() * cell_count);
    for (size_t depth = 0; depth < nesting_.size(); ++depth) {
      block_of_rank_.push_back(
          axes[nesting_[depth]].Blocks(tiling.cuts[depth].capacity_bytes));
    }
  }

  void Add(const PlannedCell& cell) {
    // True if an odd number of combinations of the slower axes come before this
    // one.
    bool is_odd = false;
    for (size_t depth = 0; depth < nesting_.size(); ++depth) {
      const std::vector<int64_t>& blocks = block_of_rank_[depth];
      const int64_t last = blocks.back();
      const int64_t block = blocks[static_cast<size_t>(Rank(cell, depth))];
      const int64_t index = is_odd ? last - block : block;
      numbers_.push_back(static_cast<int32_t>(index));
      is_odd = (is_odd && last % 2 == 0) != (index % 2 == 1);
    }
    for (size_t depth = 0; depth < nesting_.size(); ++depth) {
      numbers_.push_back(static_cast<int32_t>(Rank(cell, depth)));
    }
  }

  bool IsLess(size_t cell, size_t than) const {
    const size_t length = 2 * nesting_.size();
    const auto begin = numbers_.begin() + static_cast<ptrdiff_t>(cell * length);
    const auto other = numbers_.begin() + static_cast<ptrdiff_t>(than * length);
    const auto end = begin + static_cast<ptrdiff_t>(length);
    const auto [mine, theirs] = std::mismatch(begin, end, other);
    return mine == end ? cell < than : *mine < *theirs;
  }

 private:
  int64_t Rank(const PlannedCell& cell, size_t depth) const {
    const size_t axis = nesting_[depth];
    return axes_[axis].Rank(cell.values[axis]);
  }

  const std::vector<Axis>& axes_;
  const std::vector<size_t>& nesting_;
  std::vector<std::vector<int64_t>> block_of_rank_;
  std::vector<int32_t> numbers_;
};

bool AreAlike(const ScheduleRequest& request, const std::vector<int>& cells) {
  const auto first = static_cast<size_t>(
      request.cells[static_cast<size_t>(cells[0])].values[0]);
  const PlannedValue& same = request.values[first];
  return std::all_of(cells.begin(), cells.end(), [&](int cell) {
    const std::vector<int>& values =
        request.cells[static_cast<size_t>(cell)].values;
    return std::all_of(values.begin(), values.end(), [&](int index) {
      const PlannedValue& value = request.values[static_cast<size_t>(index)];
      return value.bytes == same.bytes && value.load_cost == same.load_cost;
    });
  });
}

std::vector<Axis> MakeAxes(const ScheduleRequest& request,
                           const std::vector<int>& cells, bool by_density) {
  const size_t arity =
      request.cells[static_cast<size_t>(cells[0])].values.size();
  std::vector<Axis> axes;
  for (size_t axis = 0; axis < arity; ++axis) {
    axes.emplace_back(request, cells, axis, by_density);
  }
  return axes;
}

// Returns the bytes that a tile may take. Bytes that pass while a value loads
// need room, too.
int64_t RoomOfTile(const ScheduleRequest& request,
                   const std::vector<int>& cells, int64_t budget_bytes) {
  int64_t passing_bytes = 0;
  for (int cell : cells) {
    for (int value : request.cells[static_cast<size_t>(cell)].values) {
      passing_bytes =
          std::max(passing_bytes,
                   request.values[static_cast<size_t>(value)].passing_bytes());
    }
  }
  return budget_bytes - passing_bytes;
}

std::vector<int> OrderByTiles(const ScheduleRequest& request,
                              const std::vector<int>& cells,
                              const std::vector<Axis>& axes,
                              const Tiling& tiling) {
  CellKeys keys(axes, tiling, cells.size());
  for (int cell : cells) keys.Add(request.cells[static_cast<size_t>(cell)]);
  std::vector<int> order(cells.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return keys.IsLess(static_cast<size_t>(a), static_cast<size_t>(b));
  });
  for (int& index : order) index = cells[static_cast<size_t>(index)];
  return order;
}

}  // namespace

void ForEachTiledOrder(
    const ScheduleRequest& request, const std::vector<int>& cells,
    int64_t budget_bytes, size_t most_orders,
    absl::FunctionRef<void(const std::vector<int>& order)> take) {
  if (cells.empty()) return;
  if (request.cells[static_cast<size_t>(cells[0])].values.empty()) {
    take(cells);
    return;
  }
  const int64_t room_bytes = RoomOfTile(request, cells, budget_bytes);
  std::vector<std::vector<Axis>> axes;
  TilingProposals proposals(most_orders);
  for (const bool by_density : {false, true}) {
    if (by_density && AreAlike(request, cells)) break;
    axes.push_back(MakeAxes(request, cells, by_density));
    proposals.Add(axes.back(), by_density, room_bytes);
  }
  for (const Tiling& tiling : proposals.Take()) {
    take(OrderByTiles(request, cells, axes[tiling.by_density ? 1 : 0], tiling));
  }
}

}  // namespace footprint::memo_internal
