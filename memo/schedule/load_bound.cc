#include "footprint/memo/schedule/load_bound.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <queue>
#include <set>
#include <utility>
#include <vector>

#include "footprint/memo/schedule/cell_orders.h"

namespace footprint::memo_internal {
namespace {

constexpr int kNever = INT32_MAX;
constexpr size_t kMostLayers = 16;
// The limit of uses for all layers together.
constexpr size_t kMostLayeredUses = 1'000'000;
// The most axes of a product that one bound uses.
constexpr size_t kMostAxes = 4;
// An axis's values are grouped into about this many sizes at most.
constexpr size_t kMostSizes = 32;

// Rounds a sum of doubles up, less its possible error, so that the result is at
// most the true sum rounded up.
int64_t RoundUpWhatIsSure(double cost) {
  return static_cast<int64_t>(std::ceil(cost * (1 - 1e-9) - 1e-6));
}

const PlannedValue& ValueAt(const ScheduleRequest& request, int value) {
  return request.values[static_cast<size_t>(value)];
}

// Returns the load cost of one of its bytes; 0 if it has none.
double ComputePrice(const PlannedValue& value) {
  return value.bytes == 0 ? 0
                          : static_cast<double>(value.load_cost) /
                                static_cast<double>(value.bytes);
}

// Computes the fewest bytes of certain values that must be loaded, if values
// may be kept in part. The value whose next use is farthest is dropped first.
class PartialKeeping {
 public:
  PartialKeeping(const ScheduleRequest& request, int64_t budget_bytes)
      : request_(request), budget_bytes_(budget_bytes) {
    std::vector<int> seen(request.values.size(), kNever);
    size_t use_count = 0;
    for (const PlannedCell& cell : request.cells) {
      use_count += cell.values.size();
    }
    next_uses_.resize(use_count);
    for (size_t step = request.cells.size(); step-- > 0;) {
      const std::vector<int>& values = request.cells[step].values;
      for (size_t i = values.size(); i-- > 0;) {
        int& next = seen[static_cast<size_t>(values[i])];
        next_uses_[--use_count] = next;
        next = static_cast<int>(step);
      }
    }
  }

  size_t use_count() const { return next_uses_.size(); }

  // Returns the fewest loaded bytes of values of at least this price.
  int64_t LeastLoadedBytes(double price) const {
    std::vector<int64_t> kept_bytes(request_.values.size());
    std::priority_queue<std::pair<int, int>> last_used;
    int64_t loaded_bytes = 0;
    int64_t all_kept_bytes = 0;
    size_t use = 0;
    for (const PlannedCell& cell : request_.cells) {
      // Loads what the cell needs, and gives its values their room.
      int64_t room_bytes = budget_bytes_;
      for (int value : cell.values) {
        room_bytes -= ValueAt(request_, value).bytes;
        int64_t& kept = kept_bytes[static_cast<size_t>(value)];
        if (ComputePrice(ValueAt(request_, value)) >= price) {
          loaded_bytes += ValueAt(request_, value).bytes - kept;
        }
        all_kept_bytes -= kept;
        kept = 0;
      }
      // A stale entry, of a value that was used since, has the earliest next
      // use, so it never comes to the top.
      while (all_kept_bytes > room_bytes) {
        int64_t& kept = kept_bytes[static_cast<size_t>(last_used.top().second)];
        const int64_t gone_bytes = std::min(kept, all_kept_bytes - room_bytes);
        kept -= gone_bytes;
        all_kept_bytes -= gone_bytes;
        if (kept == 0) last_used.pop();
      }
      // Keeps the cell's values that are used again.
      for (int value : cell.values) {
        const int next_use = next_uses_[use++];
        const bool is_kept = ComputePrice(ValueAt(request_, value)) >= price;
        if (next_use == kNever || !is_kept) continue;
        kept_bytes[static_cast<size_t>(value)] = ValueAt(request_, value).bytes;
        all_kept_bytes += ValueAt(request_, value).bytes;
        last_used.push({next_use, value});
      }
    }
    return loaded_bytes;
  }

 private:
  const ScheduleRequest& request_;
  const int64_t budget_bytes_;
  // The next use of each use, in the order of the cells and of their values.
  std::vector<int> next_uses_;
};

// Returns the cost of loading each value without bytes once; all of them are
// kept.
double CostOfWhatTakesNothing(const ScheduleRequest& request) {
  std::set<int> values;
  for (const PlannedCell& cell : request.cells) {
    for (int value : cell.values) {
      if (ValueAt(request, value).bytes == 0) values.insert(value);
    }
  }
  double cost = 0;
  for (int value : values) {
    cost += static_cast<double>(ValueAt(request, value).load_cost);
  }
  return cost;
}

// Returns the prices of the layers in rising order. If the values have more
// than `most` prices, each price is rounded down to a layer.
std::vector<double> ComputeLayers(const ScheduleRequest& request, size_t most) {
  std::set<double> prices;
  for (const PlannedCell& cell : request.cells) {
    for (int value : cell.values) {
      const double price = ComputePrice(ValueAt(request, value));
      if (price > 0) prices.insert(price);
    }
  }
  if (prices.size() <= most) return {prices.begin(), prices.end()};
  std::vector<double> layers;
  const double ratio = *prices.rbegin() / *prices.begin();
  for (size_t i = 0; i < most; ++i) {
    const double exponent = static_cast<double>(i) / static_cast<double>(most);
    layers.push_back(*prices.begin() * std::pow(ratio, exponent));
  }
  return layers;
}

// One axis of a product.
struct BoundAxis {
  std::vector<int> values;
  // The bytes of no value, of the smallest value, of the two smallest, and so
  // on.
  std::vector<int64_t> smallest_bytes;

  int64_t CountThatFit(int64_t room_bytes) const {
    if (room_bytes < 0) return 0;
    return std::upper_bound(smallest_bytes.begin(), smallest_bytes.end(),
                            room_bytes) -
           smallest_bytes.begin() - 1;
  }
};

double Product(const std::vector<int64_t>& factors) {
  double product = 1;
  for (int64_t factor : factors) product *= static_cast<double>(factor);
  return product;
}

// The bound for the cells of one arity and some of their axes.
class ProductBound {
 public:
  ProductBound(const ScheduleRequest& request, std::vector<int> cells,
               const std::vector<size_t>& chosen, int64_t room_bytes)
      : request_(request), room_bytes_(room_bytes) {
    KeepOneOfEachCombination(chosen, &cells);
    combination_count_ = static_cast<double>(cells.size());
    CountUses(cells, chosen);
    for (BoundAxis& axis : axes_) SumSmallest(&axis);
  }

  // Returns the least cost of the loads after each value's first.
  double ExtraCost() {
    gains_.assign(request_.values.size(), 0);
    for (size_t axis = 0; axis < axes_.size(); ++axis) AddGains(axis);
    return std::max(ExtraCostOfEmptyBegin(), ExtraCostOfUses());
  }

 private:
  int AxisValueAt(int cell, size_t axis) const {
    return request_.cells[static_cast<size_t>(cell)].values[axis];
  }

  void KeepOneOfEachCombination(const std::vector<size_t>& chosen,
                                std::vector<int>* cells) const {
    const auto is_before = [&](int left, int right) {
      for (size_t axis : chosen) {
        const int mine = AxisValueAt(left, axis);
        const int theirs = AxisValueAt(right, axis);
        if (mine != theirs) return mine < theirs;
      }
      return false;
    };
    std::sort(cells->begin(), cells->end(), is_before);
    const auto is_same = [&](int left, int right) {
      return !is_before(left, right);
    };
    cells->erase(std::unique(cells->begin(), cells->end(), is_same),
                 cells->end());
  }

  void CountUses(const std::vector<int>& cells,
                 const std::vector<size_t>& chosen) {
    axes_.resize(chosen.size());
    uses_.assign(request_.values.size(), 0);
    std::vector<bool> is_in_one_before(request_.values.size(), false);
    for (size_t axis = 0; axis < chosen.size(); ++axis) {
      std::vector<int>& values = axes_[axis].values;
      for (int cell : cells) {
        values.push_back(AxisValueAt(cell, chosen[axis]));
        ++uses_[static_cast<size_t>(values.back())];
      }
      std::sort(values.begin(), values.end());
      values.erase(std::unique(values.begin(), values.end()), values.end());
      for (int value : values) {
        if (is_in_one_before[static_cast<size_t>(value)]) {
          shares_values_ = true;
        } else {
          values_.push_back(value);
        }
        is_in_one_before[static_cast<size_t>(value)] = true;
      }
    }
  }

  void SumSmallest(BoundAxis* axis) const {
    std::vector<int64_t> bytes;
    for (int value : axis->values) {
      bytes.push_back(ValueAt(request_, value).bytes);
    }
    std::sort(bytes.begin(), bytes.end());
    axis->smallest_bytes.push_back(0);
    for (int64_t one : bytes) {
      axis->smallest_bytes.push_back(axis->smallest_bytes.back() + one);
    }
  }

  // Computes each value's gain: the most combinations that one load of it can
  // make ready. Values of nearly one size count with the size of the smallest
  // of them, which leaves the other axes more room, so the bound remains true.
  void AddGains(size_t axis) {
    std::vector<int> values = axes_[axis].values;
    const auto bytes_of = [this](int value) {
      return ValueAt(request_, value).bytes;
    };
    std::sort(values.begin(), values.end(), [&](int left, int right) {
      return bytes_of(left) < bytes_of(right);
    });
    const size_t most_alike = values.size() / kMostSizes + 1;
    size_t first = 0;
    double gain = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      const bool is_alike =
          i > 0 && (i - first < most_alike ||
                    bytes_of(values[i]) == bytes_of(values[first]));
      if (!is_alike) {
        first = i;
        gain = MostCombinationsBeside(axis, room_bytes_ - bytes_of(values[i]));
      }
      gains_[static_cast<size_t>(values[i])] += gain;
    }
  }

  // Returns how many combinations of the other axes' values fit the room
  // together. A value that is in two axes takes its room once; if there is one,
  // each axis may take all of the room.
  double MostCombinationsBeside(size_t axis, int64_t room_bytes) const {
    std::vector<const BoundAxis*> others;
    for (size_t other = 0; other < axes_.size(); ++other) {
      if (other != axis) others.push_back(&axes_[other]);
    }
    if (!shares_values_) return MostCombinations(others, 0, room_bytes);
    double product = 1;
    for (const BoundAxis* other : others) {
      product *= static_cast<double>(other->CountThatFit(room_bytes));
    }
    return product;
  }

  // Returns the most combinations of values of the axes from `begin` on. With
  // three axes or more, counts that differ by less than an eighth are tried
  // together, with the room of the smallest: the result is then up to a quarter
  // too high, and the bound remains true.
  static double MostCombinations(const std::vector<const BoundAxis*>& others,
                                 size_t begin, int64_t room_bytes) {
    if (begin == others.size()) return 1;
    const int64_t most = others[begin]->CountThatFit(room_bytes);
    if (begin + 1 == others.size()) return static_cast<double>(most);
    double best = 0;
    for (int64_t first = 1; first <= most;) {
      const int64_t last =
          others.size() < 3 ? first : std::min(most, first + first / 8);
      const int64_t bytes =
          others[begin]->smallest_bytes[static_cast<size_t>(first)];
      best = std::max(
          best, static_cast<double>(last) *
                    MostCombinations(others, begin + 1, room_bytes - bytes));
      first = last + 1;
    }
    return best;
  }

  // Returns the extra cost that follows from an empty start: the first loads
  // make fewer combinations ready than later loads can, whichever values they
  // load.
  double ExtraCostOfEmptyBegin() const {
    double least_gain = HUGE_VAL;
    double gain_of_first_loads = 0;
    double least_price = HUGE_VAL;
    for (int value : values_) {
      const double gain = gains_[static_cast<size_t>(value)];
      least_gain = std::min(least_gain, gain);
      gain_of_first_loads += gain;
      const auto cost = static_cast<double>(ValueAt(request_, value).load_cost);
      least_price = std::min(least_price, cost / gain);
    }
    const double missing =
        combination_count_ + LostAtTheBegin(least_gain) - gain_of_first_loads;
    return std::max(0.0, missing) * least_price;
  }

  // Returns the most, over k, by which the first k loads fall short of k gains.
  double LostAtTheBegin(double least_gain) const {
    std::vector<int64_t> counts(axes_.size(), 0);
    double lost = 0;
    for (size_t loads = 1; loads <= values_.size(); ++loads) {
      // The combinations of so many values are most numerous if the axes have
      // equally many of them.
      BoundAxis const* const shortest = GrowShortest(&counts);
      if (shortest == nullptr) break;
      lost = std::max(
          lost, static_cast<double>(loads) * least_gain - Product(counts));
    }
    return lost;
  }

  // Adds a value to the shortest axis, and returns that axis; null if all
  // values are counted. If a value is in two axes, adds one to every axis.
  const BoundAxis* GrowShortest(std::vector<int64_t>* counts) const {
    const BoundAxis* grown = nullptr;
    int64_t* shortest = nullptr;
    for (size_t axis = 0; axis < axes_.size(); ++axis) {
      int64_t& count = (*counts)[axis];
      if (count == static_cast<int64_t>(axes_[axis].values.size())) continue;
      if (shares_values_) {
        ++count;
        grown = &axes_[axis];
      } else if (shortest == nullptr || count < *shortest) {
        shortest = &count;
        grown = &axes_[axis];
      }
    }
    if (shortest != nullptr) ++*shortest;
    return grown;
  }

  // Returns the extra cost that follows from the uses: no value makes more
  // combinations ready than it is in, so the cheapest values alone are not
  // enough.
  double ExtraCostOfUses() const {
    double missing = combination_count_;
    // A price, and the number of combinations available at that price.
    std::vector<std::pair<double, double>> offers;
    for (int value : values_) {
      const double gain = gains_[static_cast<size_t>(value)];
      const double uses =
          static_cast<double>(uses_[static_cast<size_t>(value)]);
      missing -= std::min(gain, uses);
      if (uses <= gain) continue;
      const auto cost = static_cast<double>(ValueAt(request_, value).load_cost);
      offers.emplace_back(cost / gain, uses - gain);
    }
    std::sort(offers.begin(), offers.end());
    double cost = 0;
    for (const auto& [price, most] : offers) {
      if (missing <= 0) break;
      cost += price * std::min(missing, most);
      missing -= most;
    }
    return cost;
  }

  const ScheduleRequest& request_;
  const int64_t room_bytes_;
  std::vector<BoundAxis> axes_;
  // The values of all axes, each once.
  std::vector<int> values_;
  bool shares_values_ = false;
  double combination_count_ = 0;
  // For each value, the number of combinations that it is in, and the most
  // combinations that one load of it makes ready.
  std::vector<int64_t> uses_;
  std::vector<double> gains_;
};

// Returns the axes with the most values, at most kMostAxes.
std::vector<size_t> LargestAxes(const ScheduleRequest& request,
                                const std::vector<int>& cells) {
  const size_t arity =
      request.cells[static_cast<size_t>(cells[0])].values.size();
  std::vector<std::pair<size_t, size_t>> axes;
  for (size_t axis = 0; axis < arity; ++axis) {
    std::set<int> values;
    for (int cell : cells) {
      values.insert(request.cells[static_cast<size_t>(cell)].values[axis]);
    }
    axes.emplace_back(values.size(), axis);
  }
  std::sort(axes.rbegin(), axes.rend());
  axes.resize(std::min(axes.size(), kMostAxes));
  std::vector<size_t> largest;
  for (const auto& [count, axis] : axes) largest.push_back(axis);
  return largest;
}

// Returns the fewest bytes of a cell's values that are on no chosen axis. A
// value on a chosen axis and on another one takes its room once.
int64_t LeastBytesBesides(const ScheduleRequest& request,
                          const std::vector<int>& cells,
                          const std::vector<size_t>& chosen) {
  std::set<int> on_chosen;
  for (int cell : cells) {
    const std::vector<int>& values =
        request.cells[static_cast<size_t>(cell)].values;
    for (size_t axis : chosen) on_chosen.insert(values[axis]);
  }
  int64_t least_bytes = INT64_MAX;
  for (int cell : cells) {
    int64_t bytes = 0;
    for (int value : request.cells[static_cast<size_t>(cell)].values) {
      if (on_chosen.count(value) == 0) bytes += ValueAt(request, value).bytes;
    }
    least_bytes = std::min(least_bytes, bytes);
  }
  return least_bytes;
}

// Returns the best bound over the subsets of two or more axes.
double ExtraCostOfGroup(const ScheduleRequest& request,
                        const std::vector<int>& cells, int64_t budget_bytes) {
  if (request.cells[static_cast<size_t>(cells[0])].values.size() < 2) return 0;
  const std::vector<size_t> axes = LargestAxes(request, cells);
  double most = 0;
  for (unsigned subset = 1; subset < 1u << axes.size(); ++subset) {
    std::vector<size_t> chosen;
    for (size_t i = 0; i < axes.size(); ++i) {
      if ((subset >> i & 1) != 0) chosen.push_back(axes[i]);
    }
    if (chosen.size() < 2) continue;
    const int64_t room_bytes =
        budget_bytes - LeastBytesBesides(request, cells, chosen);
    most = std::max(
        most, ProductBound(request, cells, chosen, room_bytes).ExtraCost());
  }
  return most;
}

}  // namespace

int64_t CompulsoryCost(const ScheduleRequest& request) {
  std::vector<bool> is_used(request.values.size(), false);
  int64_t cost = 0;
  for (const PlannedCell& cell : request.cells) {
    for (int value : cell.values) {
      if (!is_used[static_cast<size_t>(value)]) {
        cost += ValueAt(request, value).load_cost;
      }
      is_used[static_cast<size_t>(value)] = true;
    }
  }
  return cost;
}

int64_t LeastCostInOrder(const ScheduleRequest& request, int64_t budget_bytes) {
  const PartialKeeping keeping(request, budget_bytes);
  const size_t most_layers = std::clamp<size_t>(
      kMostLayeredUses / (keeping.use_count() + 1), 1, kMostLayers);
  double cost = CostOfWhatTakesNothing(request);
  double price_below = 0;
  for (const double price : ComputeLayers(request, most_layers)) {
    cost += (price - price_below) *
            static_cast<double>(keeping.LeastLoadedBytes(price));
    price_below = price;
  }
  return std::max(CompulsoryCost(request), RoundUpWhatIsSure(cost));
}

int64_t LeastCostInAnyOrder(const ScheduleRequest& request,
                            int64_t budget_bytes) {
  // Extra loads of groups that share no value add up, so the largest are added
  // first.
  std::vector<std::pair<double, std::vector<int>>> groups;
  for (std::vector<int>& group : GroupsOfOneArity(request)) {
    const double extra_cost = ExtraCostOfGroup(request, group, budget_bytes);
    groups.emplace_back(extra_cost, std::move(group));
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const auto& left, const auto& right) {
                     return left.first > right.first;
                   });
  std::vector<bool> is_counted(request.values.size(), false);
  int64_t cost = CompulsoryCost(request);
  for (const auto& [extra_cost, cells] : groups) {
    std::vector<int> values;
    for (int cell : cells) {
      const std::vector<int>& needs =
          request.cells[static_cast<size_t>(cell)].values;
      values.insert(values.end(), needs.begin(), needs.end());
    }
    const bool is_apart = std::none_of(
        values.begin(), values.end(),
        [&](int value) { return is_counted[static_cast<size_t>(value)]; });
    if (!is_apart) continue;
    for (int value : values) is_counted[static_cast<size_t>(value)] = true;
    cost += RoundUpWhatIsSure(extra_cost);
  }
  return cost;
}

}  // namespace footprint::memo_internal
