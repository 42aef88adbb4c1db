#include "footprint/memo/schedule/exact_schedule.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace footprint::memo_internal {
namespace {

using Mask = uint64_t;

constexpr size_t kMostCellsInOrder = 64;
constexpr size_t kMostCellsReordered = 16;
constexpr size_t kMostValues = 64;
constexpr int64_t kMostTransitions = 200'000;

Mask Bit(size_t index) { return Mask{1} << index; }

struct State {
  Mask done = 0;
  Mask kept = 0;
  int64_t cost = 0;
  int64_t peak_bytes = 0;
  Mask dropped = 0;     // the cell needs and has them, but loads them again
  int32_t parent = -1;  // index in the layer before
  int32_t cell = -1;
};

class Search {
 public:
  Search(const ScheduleRequest& request, int64_t budget_bytes,
         const Schedule& known)
      : request_(request), budget_bytes_(budget_bytes), known_(known) {
    for (const PlannedCell& cell : request.cells) {
      Mask mask = 0;
      for (int value : cell.values) mask |= Bit(static_cast<size_t>(value));
      needs_.push_back(mask);
    }
    for (const PlannedValue& value : request.values) {
      has_passing_ |= value.passing_bytes() > 0;
    }
  }

  ExactSearchResult Run() {
    layers_.push_back({State()});
    for (size_t depth = 0; depth < needs_.size(); ++depth) {
      layers_.emplace_back();
      index_.clear();
      for (size_t i = 0; i < layers_[depth].size(); ++i) {
        Expand(static_cast<int32_t>(i));
        if (transition_count_ > kMostTransitions) return {};
      }
    }
    ExactSearchResult result;
    result.is_complete = true;
    // Nothing is better than no cells.
    if (!needs_.empty() && !layers_.back().empty()) result.better = Trace();
    return result;
  }

 private:
  size_t depth() const { return layers_.size() - 2; }

  Mask NeededBeyond(Mask done) const {
    Mask needed = 0;
    for (size_t cell = 0; cell < needs_.size(); ++cell) {
      if ((done & Bit(cell)) == 0) needed |= needs_[cell];
    }
    return needed;
  }

  template <typename Quantity>
  int64_t Sum(Mask mask, Quantity quantity) const {
    int64_t sum = 0;
    for (; mask != 0; mask &= mask - 1) {
      sum +=
          quantity(request_.values[static_cast<size_t>(__builtin_ctzll(mask))]);
    }
    return sum;
  }
  int64_t Bytes(Mask mask) const {
    return Sum(mask, [](const PlannedValue& value) { return value.bytes; });
  }
  int64_t Cost(Mask mask) const {
    return Sum(mask, [](const PlannedValue& value) { return value.load_cost; });
  }

  void Expand(int32_t parent) {
    // This is a copy, since adding to the next layer may move the layers.
    const State state = layers_[depth()][static_cast<size_t>(parent)];
    for (size_t cell = 0; cell < needs_.size(); ++cell) {
      if ((state.done & Bit(cell)) != 0) continue;
      if (!request_.may_reorder && cell != depth()) continue;
      Move move;
      move.parent = parent;
      move.cell = cell;
      move.done = state.done | Bit(cell);
      move.needed_later = NeededBeyond(move.done);
      ExpandCell(state, &move);
    }
  }

  struct Move {
    int32_t parent;
    size_t cell;
    Mask done;
    Mask needed_later;
    Mask dropped;
    Mask loads;
    int64_t passing_bytes;
  };

  // Values that the cell needs and already has may leave too little room for
  // its other loads, if these need more than their values. Then the search also
  // tries to drop each subset of these values and to load them again.
  void ExpandCell(const State& state, Move* move) {
    const Mask needs = needs_[move->cell];
    const Mask droppable = has_passing_ ? state.kept & needs : 0;
    move->dropped = 0;
    do {
      move->loads = (needs & ~state.kept) | move->dropped;
      move->passing_bytes = has_passing_ ? Passing(move->loads) : 0;
      const int64_t room_bytes =
          budget_bytes_ - Bytes(needs) - move->passing_bytes;
      if (room_bytes >= 0) {
        Keep(state, *move, state.kept & ~needs, 0, room_bytes);
      }
      if (++transition_count_ > kMostTransitions) return;
      move->dropped = (move->dropped - droppable) & droppable;
    } while (move->dropped != 0);
  }

  int64_t Passing(Mask mask) const {
    std::vector<int> loads;
    AppendValues(mask, &loads);
    SortLoads(request_, &loads);
    return PassingBytes(request_, loads);
  }

  // Adds every largest set of `undecided` values that fits beside `kept`.
  void Keep(const State& state, const Move& move, Mask undecided, Mask kept,
            int64_t room_bytes) {
    if (transition_count_ > kMostTransitions) return;
    if (Bytes(undecided) <= room_bytes) {
      Add(state, move, kept | undecided, room_bytes - Bytes(undecided));
      return;
    }
    const Mask first = undecided & (~undecided + 1);
    const int64_t bytes = Bytes(first);
    ++transition_count_;
    if (bytes <= room_bytes) {
      Keep(state, move, undecided & ~first, kept | first, room_bytes - bytes);
    }
    Keep(state, move, undecided & ~first, kept, room_bytes);
  }

  void Add(const State& state, const Move& move, Mask kept,
           int64_t room_bytes) {
    ++transition_count_;
    // If a value that was left out would fit, a larger set is tried too.
    Mask left_out = state.kept & ~needs_[move.cell] & ~kept;
    for (; left_out != 0; left_out &= left_out - 1) {
      if (Bytes(left_out & (~left_out + 1)) <= room_bytes) return;
    }
    State next;
    next.done = move.done;
    next.kept = (kept | needs_[move.cell]) & move.needed_later;
    next.cost = state.cost + Cost(move.loads);
    next.peak_bytes = std::max(
        state.peak_bytes, Bytes(kept | needs_[move.cell]) + move.passing_bytes);
    next.dropped = move.dropped;
    next.parent = move.parent;
    next.cell = static_cast<int32_t>(move.cell);
    // Each value that is needed and not kept costs at least one more load.
    const int64_t least_cost = next.cost + Cost(move.needed_later & ~next.kept);
    if (IsWorthwhile(least_cost, next.peak_bytes)) Insert(next);
  }

  bool IsWorthwhile(int64_t cost, int64_t peak_bytes) const {
    if (cost != known_.load_cost) return cost < known_.load_cost;
    return request_.may_reorder && peak_bytes < known_.peak_bytes;
  }

  void Insert(const State& next) {
    std::vector<State>& layer = layers_.back();
    const auto [entry, is_new] =
        index_.try_emplace({next.done, next.kept}, layer.size());
    if (is_new) {
      layer.push_back(next);
      return;
    }
    State& same = layer[entry->second];
    if (std::make_pair(next.cost, next.peak_bytes) <
        std::make_pair(same.cost, same.peak_bytes)) {
      same = next;
    }
  }

  Schedule Trace() const {
    const State* state = &*std::min_element(
        layers_.back().begin(), layers_.back().end(),
        [](const State& left, const State& right) {
          return std::make_pair(left.cost, left.peak_bytes) <
                 std::make_pair(right.cost, right.peak_bytes);
        });
    std::vector<const State*> path(needs_.size());
    for (size_t depth = needs_.size(); depth-- > 0;) {
      path[depth] = state;
      state = &layers_[depth][static_cast<size_t>(state->parent)];
    }
    return FromPath(path);
  }

  // A state's mask has the values that may be kept. A value is really kept only
  // if all states up to its next use have it.
  Schedule FromPath(const std::vector<const State*>& path) const {
    Schedule schedule;
    schedule.load_cost = path.back()->cost;
    schedule.steps.resize(path.size());
    Mask wanted = 0;
    for (size_t step = path.size(); step-- > 0;) {
      const Mask need = needs_[static_cast<size_t>(path[step]->cell)];
      const Mask kept_before =
          step == 0 ? 0 : path[step - 1]->kept & ~path[step]->dropped;
      schedule.steps[step].cell = path[step]->cell;
      AppendValues(need & ~wanted, &schedule.steps[step].evictions);
      AppendValues(need & ~kept_before, &schedule.steps[step].loads);
      SortLoads(request_, &schedule.steps[step].loads);
      schedule.load_count +=
          static_cast<int64_t>(schedule.steps[step].loads.size());
      wanted = ((wanted & ~need) | need) & kept_before;
    }
    // The peak is that of the values really kept; a state's peak may be higher.
    schedule.peak_bytes = PeakBytes(request_, schedule);
    return schedule;
  }

  static void AppendValues(Mask mask, std::vector<int>* values) {
    for (; mask != 0; mask &= mask - 1) {
      values->push_back(__builtin_ctzll(mask));
    }
  }

  const ScheduleRequest& request_;
  const int64_t budget_bytes_;
  const Schedule& known_;
  std::vector<Mask> needs_;
  std::vector<std::vector<State>> layers_;
  absl::flat_hash_map<std::pair<Mask, Mask>, size_t> index_;
  int64_t transition_count_ = 0;
  bool has_passing_ = false;
};

}  // namespace

ExactSearchResult SearchExactly(const ScheduleRequest& request,
                                int64_t budget_bytes, const Schedule& known) {
  const size_t most_cells =
      request.may_reorder ? kMostCellsReordered : kMostCellsInOrder;
  if (request.cells.size() > most_cells ||
      request.values.size() > kMostValues) {
    return {};
  }
  return Search(request, budget_bytes, known).Run();
}

}  // namespace footprint::memo_internal
