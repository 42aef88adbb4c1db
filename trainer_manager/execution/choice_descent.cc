#include "footprint/trainer_manager/execution/choice_descent.h"

#include <algorithm>
#include <utility>

#include "absl/types/optional.h"
#include "footprint/trainer_manager/execution/recomputation.h"

namespace footprint {
namespace {

constexpr uint64_t kSeed = 15;
// The steps of all plans that a search bounds, which take a fifth of a second.
constexpr int64_t kMostSteps = 200'000;
constexpr int kRestarts = 40;
// The most changes of a point to try in a large network, where one change for
// each layer would take a quarter of those steps.
constexpr size_t kFewNeighbours = 16;

bool Contains(const std::vector<size_t>& layers, size_t layer) {
  return std::find(layers.begin(), layers.end(), layer) != layers.end();
}

void Insert(size_t layer, std::vector<size_t>* layers) {
  if (!Contains(*layers, layer)) layers->push_back(layer);
}

void Erase(size_t layer, std::vector<size_t>* layers) {
  layers->erase(std::remove(layers->begin(), layers->end(), layer),
                layers->end());
}

// Returns the bytes in the arena above 63/64 of the bound, summed over all
// steps.
int64_t BytesNearBound(const BoundedGraph& graph) {
  std::vector<int64_t> change(graph.steps.size() + 1, 0);
  for (const Storage& storage : graph.storages) {
    if (storage.storage_class != StorageClass::kArena) continue;
    change[static_cast<size_t>(storage.lower_step)] += storage.size_bytes;
    change[static_cast<size_t>(storage.upper_step)] -= storage.size_bytes;
  }
  const int64_t near = graph.certificate.bytes - graph.certificate.bytes / 64;
  int64_t live = 0;
  int64_t sum = 0;
  for (size_t s = 0; s < graph.steps.size(); ++s) {
    live += change[s];
    sum += std::max<int64_t>(0, live - near);
  }
  return sum;
}

// Returns the layers whose outputs are recomputed at the step, or next to it
// without another step between.
std::vector<size_t> RecomputedAround(const StepGraph& graph, size_t step) {
  const auto is_again = [&graph](size_t s) {
    return graph.steps[s].kind == StepKind::kRecompute ||
           graph.steps[s].kind == StepKind::kReadRows;
  };
  std::vector<size_t> layers;
  for (size_t s = step; s < graph.steps.size() && is_again(s); ++s) {
    Insert(graph.steps[s].layer, &layers);
  }
  for (size_t s = step; s-- > 0 && is_again(s);) {
    Insert(graph.steps[s].layer, &layers);
  }
  return layers;
}

}  // namespace

ChoiceDescent::ChoiceDescent(const PlanBuilder& builder, bool may_swap)
    : builder_(builder),
      network_(builder.network()),
      may_swap_(may_swap),
      random_(kSeed),
      steps_left_(kMostSteps) {
  for (size_t l = 0; l < network_.layers.size(); ++l) {
    if (CanRecompute(network_, l)) droppable_.push_back(l);
    if (MaySlice(builder.options()) &&
        (CanSlice(network_, l) || CanSliceSum(network_, l))) {
      sliceable_.push_back(l);
    }
  }
}

absl::Status ChoiceDescent::Run(const BoundedChoices& start,
                                const Visit& visit) {
  if (!MayDrop(network_, builder_.options())) return absl::OkStatus();
  const int64_t steps_before = steps_left_;
  absl::StatusOr<Point> first = Evaluate(start.choices);
  if (!first.ok()) return first.status();
  lowest_ = *first;
  is_large_ =
      (steps_before - steps_left_) * static_cast<int64_t>(droppable_.size()) >
      kMostSteps / 4;
  absl::Status status;
  if (is_large_) {
    status = StartLarge(*std::move(first), visit);
  } else {
    status = Descend(*std::move(first), visit);
    for (StepChoices& choices : Starts(lowest_.choices)) {
      if (!status.ok() || IsOver()) return status;
      absl::StatusOr<Point> point = Evaluate(std::move(choices));
      if (!point.ok()) return point.status();
      status = Offer(*point, visit);
      if (status.ok()) status = Descend(*std::move(point), visit);
    }
  }
  for (int i = 0; i < kRestarts && status.ok() && !IsOver(); ++i) {
    status = Restart(visit);
  }
  return status;
}

// Descends from the lowest start. The starts include variants that swap all
// outputs that they keep.
absl::Status ChoiceDescent::StartLarge(Point first, const Visit& visit) {
  std::vector<StepChoices> starts = Starts(first.choices);
  for (size_t i = 0, count = starts.size(); may_swap_ && i < count; ++i) {
    StepChoices swapping = starts[i];
    swapping.swapped.clear();
    for (const size_t l : droppable_) {
      if (!Contains(swapping.dropped, l)) swapping.swapped.push_back(l);
    }
    starts.push_back(std::move(swapping));
  }
  for (StepChoices& choices : starts) {
    if (IsOver()) return absl::OkStatus();
    absl::StatusOr<Point> point = Evaluate(std::move(choices));
    if (!point.ok()) return point.status();
    const absl::Status status = Offer(*point, visit);
    if (!status.ok()) return status;
  }
  return Descend(lowest_, visit);
}

// Changes some choices of the lowest point at random and descends again.
absl::Status ChoiceDescent::Restart(const Visit& visit) {
  StepChoices choices = lowest_.choices;
  for (uint64_t changes = 1 + random_.Below(3); changes > 0; --changes) {
    std::vector<StepChoices> neighbours;
    const std::vector<size_t>& layers =
        random_.Below(4) == 0 && !sliceable_.empty() ? sliceable_ : droppable_;
    if (layers.empty()) return absl::OkStatus();
    const size_t layer = layers[random_.Below(layers.size())];
    if (&layers == &sliceable_) {
      ChangeSlices(choices, layer, &neighbours);
    } else {
      ChangeLayer(choices, layer, &neighbours);
    }
    choices = neighbours[random_.Below(neighbours.size())];
  }
  absl::StatusOr<Point> point = Evaluate(std::move(choices));
  if (!point.ok()) return point.status();
  const absl::Status status = Offer(*point, visit);
  if (!status.ok()) return status;
  return Descend(*std::move(point), visit);
}

bool ChoiceDescent::IsOver() const { return is_found_ || steps_left_ <= 0; }

absl::StatusOr<ChoiceDescent::Point> ChoiceDescent::Evaluate(
    StepChoices choices) {
  if (may_swap_) builder_.PreferSwaps(&choices);
  const absl::StatusOr<BoundedGraph> graph = builder_.Bound(choices);
  if (!graph.ok()) return graph.status();
  steps_left_ -= static_cast<int64_t>(graph->steps.size());
  Point point;
  point.choices = std::move(choices);
  point.bound_bytes = graph->bound_bytes();
  point.bytes_near_bound = BytesNearBound(*graph);
  point.layer = network_.layers.size();
  if (!graph->steps.empty()) {
    const size_t step = static_cast<size_t>(graph->certificate.step);
    point.layer = graph->steps[step].layer;
    point.outputs = RecomputedAround(*graph, step);
    for (const size_t l : graph->certificate.layers) Insert(l, &point.outputs);
  }
  return point;
}

absl::Status ChoiceDescent::Descend(Point point, const Visit& visit) {
  while (!IsOver()) {
    absl::optional<Point> best;
    for (StepChoices& choices : Neighbours(point)) {
      if (IsOver()) break;
      absl::StatusOr<Point> next = Evaluate(std::move(choices));
      if (!next.ok()) return next.status();
      if (next->IsBelow(best ? *best : point)) best = *std::move(next);
    }
    if (!best) return absl::OkStatus();
    point = *std::move(best);
    const absl::Status status = Offer(point, visit);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status ChoiceDescent::Offer(const Point& point, const Visit& visit) {
  if (!point.IsBelow(lowest_)) return absl::OkStatus();
  const bool is_lower = point.bound_bytes < lowest_.bound_bytes;
  lowest_ = point;
  if (!is_lower) return absl::OkStatus();
  const absl::StatusOr<bool> is_found =
      visit({point.choices, point.bound_bytes});
  if (!is_found.ok()) return is_found.status();
  is_found_ = *is_found;
  return absl::OkStatus();
}

std::vector<StepChoices> ChoiceDescent::Neighbours(const Point& point) {
  std::vector<StepChoices> neighbours;
  for (const size_t l : point.outputs) {
    if (Contains(droppable_, l)) ChangeLayer(point.choices, l, &neighbours);
  }
  for (const size_t l : sliceable_) {
    if (l == point.layer ||
        network_.layers[l].inputs[0] == network_.inputs.size() + point.layer) {
      ChangeSlices(point.choices, l, &neighbours);
    }
  }
  if (is_large_) {
    for (size_t i = 0; i < std::min(neighbours.size(), kFewNeighbours); ++i) {
      std::swap(neighbours[i],
                neighbours[i + random_.Below(neighbours.size() - i)]);
    }
    neighbours.resize(std::min(neighbours.size(), kFewNeighbours));
  }
  return neighbours;
}

// Tries each form of the layer's output: kept, recomputed once, recomputed for
// each reader, or written to the file.
void ChoiceDescent::ChangeLayer(const StepChoices& from, size_t layer,
                                std::vector<StepChoices>* neighbours) const {
  StepChoices kept = from;
  Erase(layer, &kept.dropped);
  Erase(layer, &kept.forgotten);
  Erase(layer, &kept.swapped);
  StepChoices dropped = kept;
  StepChoices forgotten = kept;
  for (const size_t l : LayersToDrop(network_, from.dropped, layer)) {
    Insert(l, &dropped.dropped);
    Insert(l, &forgotten.dropped);
    Insert(l, &forgotten.forgotten);
  }
  StepChoices swapped = kept;
  swapped.swapped.push_back(layer);
  const bool is_dropped = Contains(from.dropped, layer);
  const bool is_forgotten = Contains(from.forgotten, layer);
  const bool is_swapped = Contains(from.swapped, layer);
  if (may_swap_ && !is_swapped) neighbours->push_back(std::move(swapped));
  if (!is_dropped || is_forgotten) neighbours->push_back(std::move(dropped));
  if (!is_forgotten) neighbours->push_back(std::move(forgotten));
  if (is_dropped || is_forgotten || is_swapped) {
    neighbours->push_back(std::move(kept));
  }
}

void ChoiceDescent::ChangeSlices(const StepChoices& from, size_t layer,
                                 std::vector<StepChoices>* neighbours) const {
  StepChoices changed = from;
  if (Contains(from.sliced, layer)) {
    Erase(layer, &changed.sliced);
  } else {
    changed.sliced.push_back(layer);
  }
  neighbours->push_back(std::move(changed));
}

std::vector<StepChoices> ChoiceDescent::Starts(const StepChoices& start) const {
  std::vector<StepChoices> starts = {start};
  starts[0].sliced = sliceable_;
  for (size_t k = 1; k < network_.layers.size(); k *= 2) {
    StepChoices all;
    all.sliced = sliceable_;
    all.dropped = droppable_;
    all.tiled_gradients = start.tiled_gradients;
    all.tile_bytes = start.tile_bytes;
    StepChoices some = all;
    for (const size_t l : droppable_) {
      if (l % k == 0 && k > 1) {
        Erase(l, &some.dropped);
      } else {
        all.forgotten.push_back(l);
      }
    }
    some.forgotten = some.dropped;
    starts.push_back(std::move(all));
    if (k > 1) starts.push_back(std::move(some));
  }
  return starts;
}

}  // namespace footprint
