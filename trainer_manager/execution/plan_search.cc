#include "footprint/trainer_manager/execution/plan_search.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "footprint/trainer_manager/execution/gradient_tiles.h"
#include "footprint/trainer_manager/execution/recomputation.h"

namespace footprint {
namespace {

// The steps of all plans that one greedy walk bounds, which take half a second.
// After half of them it tries only a few layers at a time.
constexpr int64_t kMostWalkSteps = 500'000;
constexpr size_t kFewLayers = 8;
// Larger tiles of a matrix in a published layout make no step faster. In a file
// of SaveParameters, each row of a tile is a read of its own, so more columns
// are better still.
constexpr int64_t kLargeTileBytes = int64_t{4} << 20;
constexpr int64_t kLargestTileBytes = int64_t{64} << 20;

bool Contains(const std::vector<size_t>& layers, size_t layer) {
  return std::find(layers.begin(), layers.end(), layer) != layers.end();
}

std::vector<size_t> Without(std::vector<size_t> layers, size_t layer) {
  layers.erase(std::remove(layers.begin(), layers.end(), layer), layers.end());
  return layers;
}

// Returns the layers in the order of `figure(layer)`, the largest first.
template <typename Figure>
std::vector<size_t> Largest(std::vector<size_t> layers, const Figure& figure) {
  std::stable_sort(layers.begin(), layers.end(),
                   [&](size_t a, size_t b) { return figure(a) > figure(b); });
  return layers;
}

}  // namespace

PlanSearch::PlanSearch(ResolvedNetwork network, const MathBackend& math,
                       const MemoryOptions& options, int optimizer_states,
                       bool may_swap)
    : options_(options),
      builder_(std::move(network), math, options, optimizer_states),
      network_(builder_.network()),
      may_swap_(may_swap) {}

absl::StatusOr<ExecutionPlan> PlanSearch::Run() const {
  Path path;
  absl::Status status = Start(StepChoices().tile_bytes, &path);
  if (status.ok() && !path.found && options_.read_frozen_weights) {
    status = Start(/*tile_bytes=*/1, &path);
  }
  for (const bool swaps : {false, true}) {
    if (swaps && !may_swap_) break;
    // A search without swaps would recompute what reads weights again.
    if (!swaps && may_swap_ && options_.read_frozen_weights) continue;
    if (status.ok()) status = Walk(swaps, &path);
    if (status.ok()) status = Descend(swaps, &path);
  }
  if (!status.ok()) return status;
  if (!path.found) return Lowest(std::move(path.points));
  return KeepAgain(path.points.back().choices, options_.budget_bytes,
                   *std::move(path.found));
}

// Begins the walk anew with tiles of at most that many bytes, if they can be so
// small.
absl::Status PlanSearch::Start(int64_t tile_bytes, Path* path) const {
  BoundedChoices first;
  first.choices.tile_bytes = tile_bytes;
  path->walk_steps_left = kMostWalkSteps;
  const absl::StatusOr<int64_t> bytes = Slice(&first.choices, path);
  if (!bytes.ok()) return bytes.status();
  first.bound_bytes = *bytes;
  path->walked = first;
  return Add(std::move(first), path);
}

absl::Status PlanSearch::Add(BoundedChoices point, Path* path) const {
  path->points.push_back(std::move(point));
  if (path->points.back().bound_bytes > options_.budget_bytes) {
    return absl::OkStatus();
  }
  absl::StatusOr<ExecutionPlan> plan =
      builder_.Plan(path->points.back().choices);
  if (plan.ok() && plan->planned_bytes() <= options_.budget_bytes) {
    path->found = *std::move(plan);
  }
  return plan.status();
}

// Continues from the walk's position as long as dropping, or swapping, a layer
// lowers the bound.
absl::Status PlanSearch::Walk(bool swaps, Path* path) const {
  path->walk_steps_left = kMostWalkSteps;
  bool tiled_all = false;
  while (!path->found && path->walk_steps_left > 0) {
    absl::StatusOr<absl::optional<BoundedChoices>> next = absl::nullopt;
    if (!std::exchange(tiled_all, true)) next = TileAllGradients(path);
    if (next.ok() && !next->has_value()) next = TileGradient(path);
    if (next.ok() && !next->has_value()) next = Drop(path);
    if (swaps && next.ok() && !next->has_value()) next = Swap(path);
    if (!next.ok()) return next.status();
    if (!next->has_value()) break;
    path->walked = **std::move(next);
    const absl::Status status = Add(path->walked, path);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// Continues from the lowest point by local search, since no single change of
// that kind helps any more.
absl::Status PlanSearch::Descend(bool swaps, Path* path) const {
  if (path->found) return absl::OkStatus();
  const BoundedChoices lowest =
      *std::min_element(path->points.begin(), path->points.end(),
                        [](const BoundedChoices& a, const BoundedChoices& b) {
                          return a.bound_bytes < b.bound_bytes;
                        });
  return ChoiceDescent(builder_, swaps)
      .Run(lowest, [&](const BoundedChoices& lower) -> absl::StatusOr<bool> {
        const absl::Status status = Add(lower, path);
        if (!status.ok()) return status;
        return path->found.has_value();
      });
}

absl::StatusOr<BoundedGraph> PlanSearch::Bound(const StepChoices& choices,
                                               Path* path) const {
  absl::StatusOr<BoundedGraph> graph = builder_.Bound(choices);
  if (graph.ok()) {
    path->walk_steps_left -= static_cast<int64_t>(graph->steps.size());
  }
  return graph;
}

// Slices the derivatives that the certificate names, one after the other, as
// long as that lowers the bound. Returns the bound.
absl::StatusOr<int64_t> PlanSearch::Slice(StepChoices* choices,
                                          Path* path) const {
  absl::StatusOr<BoundedGraph> last = Bound(*choices, path);
  if (!last.ok()) return last.status();
  int64_t lowest_bytes = last->bound_bytes();
  if (!MaySlice(options_)) return lowest_bytes;
  StepChoices trial = *choices;
  while (true) {
    const size_t layer = LayerToSlice(*last);
    if (layer == network_.layers.size() || Contains(trial.sliced, layer)) break;
    trial.sliced.push_back(layer);
    absl::StatusOr<BoundedGraph> next = Bound(trial, path);
    if (!next.ok()) return next.status();
    if (next->bound_bytes() > last->bound_bytes()) break;
    last = std::move(next);
    if (last->bound_bytes() < lowest_bytes) {
      lowest_bytes = last->bound_bytes();
      *choices = trial;
    }
  }
  return lowest_bytes;
}

// Divides all gradients into tiles, which a chain of equal layers needs.
// Returns nothing if that does not lower the bound.
absl::StatusOr<absl::optional<BoundedChoices>> PlanSearch::TileAllGradients(
    Path* path) const {
  BoundedChoices all = path->walked;
  for (size_t layer = 0; layer < network_.layers.size(); ++layer) {
    if (CanTileGradient(network_, builder_.math(), options_, layer) &&
        !Contains(all.choices.tiled_gradients, layer)) {
      all.choices.tiled_gradients.push_back(layer);
    }
  }
  const absl::StatusOr<int64_t> bytes = Slice(&all.choices, path);
  if (!bytes.ok()) return bytes.status();
  if (*bytes >= path->walked.bound_bytes) return absl::nullopt;
  all.bound_bytes = *bytes;
  return all;
}

// Divides, of the gradients in the certificate, the one into tiles that lowers
// the bound most. Also accepts a bound that stays equal, since several steps
// may need equally much. Returns nothing if each would raise it.
absl::StatusOr<absl::optional<BoundedChoices>> PlanSearch::TileGradient(
    Path* path) const {
  const BoundedChoices& from = path->walked;
  absl::optional<BoundedChoices> best;
  const absl::StatusOr<BoundedGraph> bounded = Bound(from.choices, path);
  if (!bounded.ok()) return bounded.status();
  for (const size_t t : bounded->certificate.tensors) {
    const PlannedTensor& tensor = bounded->tensors[t];
    if (tensor.kind != TensorKind::kGradient) continue;
    const size_t layer =
        bounded->steps[static_cast<size_t>(tensor.lower_step)].layer;
    if (!CanTileGradient(network_, builder_.math(), options_, layer) ||
        Contains(from.choices.tiled_gradients, layer)) {
      continue;
    }
    StepChoices trial = from.choices;
    trial.tiled_gradients.push_back(layer);
    const absl::StatusOr<int64_t> bytes = Slice(&trial, path);
    if (!bytes.ok()) return bytes.status();
    if (*bytes > from.bound_bytes || (best && *bytes >= best->bound_bytes)) {
      continue;
    }
    best = BoundedChoices{std::move(trial), *bytes};
  }
  return best;
}

// Drops, of the outputs in the certificate, the one that lowers the bound most.
// Returns nothing if none lowers it.
absl::StatusOr<absl::optional<BoundedChoices>> PlanSearch::Drop(
    Path* path) const {
  const BoundedChoices& from = path->walked;
  absl::optional<BoundedChoices> best;
  if (!MayDrop(network_, options_)) return best;
  const absl::StatusOr<BoundedGraph> bounded = Bound(from.choices, path);
  if (!bounded.ok()) return bounded.status();
  std::vector<size_t> layers;
  for (const size_t layer : bounded->certificate.layers) {
    if (CanRecompute(network_, layer) &&
        !Contains(from.choices.dropped, layer)) {
      layers.push_back(layer);
    }
  }
  KeepFew(*path, &layers);
  for (const size_t layer : layers) {
    StepChoices trial = from.choices;
    const std::vector<size_t> more =
        LayersToDrop(network_, trial.dropped, layer);
    trial.dropped.insert(trial.dropped.end(), more.begin(), more.end());
    if (may_swap_) builder_.PreferSwaps(&trial);
    const absl::StatusOr<int64_t> bytes = Slice(&trial, path);
    if (!bytes.ok()) return bytes.status();
    if (*bytes >= (best ? best->bound_bytes : from.bound_bytes)) continue;
    best = BoundedChoices{std::move(trial), *bytes};
  }
  return best;
}

// Does the same for swapping. Also accepts a bound that stays equal, since
// several steps may need equally much.
absl::StatusOr<absl::optional<BoundedChoices>> PlanSearch::Swap(
    Path* path) const {
  const BoundedChoices& from = path->walked;
  absl::optional<BoundedChoices> best;
  if (!MayDrop(network_, options_) || !may_swap_) return best;
  const absl::StatusOr<BoundedGraph> bounded = Bound(from.choices, path);
  if (!bounded.ok()) return bounded.status();
  std::vector<size_t> layers;
  for (const size_t layer : bounded->certificate.layers) {
    if (!Contains(from.choices.swapped, layer)) layers.push_back(layer);
  }
  KeepFew(*path, &layers);
  for (const size_t layer : layers) {
    StepChoices trial = from.choices;
    trial.swapped.push_back(layer);
    trial.dropped = Without(trial.dropped, layer);
    const absl::StatusOr<int64_t> bytes = Slice(&trial, path);
    if (!bytes.ok()) return bytes.status();
    if (*bytes > from.bound_bytes || (best && *bytes >= best->bound_bytes)) {
      continue;
    }
    best = BoundedChoices{std::move(trial), *bytes};
  }
  return best;
}

// In a long walk, keeps only the layers with the largest outputs.
void PlanSearch::KeepFew(const Path& path, std::vector<size_t>* layers) const {
  if (path.walk_steps_left >= kMostWalkSteps / 2) return;
  *layers = Largest(std::move(*layers), [this](size_t l) {
    return SizeBytes(network_.layers[l].signature.output);
  });
  layers->resize(std::min(layers->size(), kFewLayers));
}

// Takes the trial as the new choices if its plan fits the budget.
absl::Status PlanSearch::Try(StepChoices trial, int64_t budget_bytes,
                             PlannedChoices* best) const {
  // A bound places no tensors, so it refuses a trial faster than a plan.
  absl::StatusOr<BoundedGraph> bounded = builder_.Bound(trial);
  if (!bounded.ok()) return bounded.status();
  if (bounded->bound_bytes() > budget_bytes) return absl::OkStatus();
  absl::StatusOr<ExecutionPlan> plan = builder_.Place(*std::move(bounded));
  if (plan.ok() && plan->planned_bytes() <= budget_bytes) {
    *best = {std::move(trial), *std::move(plan)};
  }
  return plan.status();
}

// Keeps in memory what still fits the budget: first weights that are read from
// their file, then swapped outputs, the largest first, then recomputed ones,
// the most expensive first.
absl::StatusOr<ExecutionPlan> PlanSearch::KeepAgain(StepChoices choices,
                                                    int64_t budget_bytes,
                                                    ExecutionPlan plan) const {
  PlannedChoices best = {std::move(choices), std::move(plan)};
  absl::Status status;
  const auto keep = [&](std::vector<size_t> StepChoices::*list,
                        const std::vector<size_t>& layers) {
    for (const size_t layer : layers) {
      if (!status.ok() || !Contains(best.choices.*list, layer)) continue;
      StepChoices trial = best.choices;
      trial.*list = Without(trial.*list, layer);
      status = Try(std::move(trial), budget_bytes, &best);
    }
  };
  status = EnlargeTiles(kLargeTileBytes, budget_bytes, &best);
  if (status.ok()) status = KeepWeights(budget_bytes, &best);
  keep(&StepChoices::swapped, Largest(best.choices.swapped, [this](size_t l) {
    return SizeBytes(network_.layers[l].signature.output);
  }));
  // Tries to keep recomputed outputs: first from their recomputation on, then
  // from the forward pass on.
  const std::vector<size_t> dropped =
      Largest(best.choices.dropped, [this](size_t l) {
        return network_.layers[l].signature.recompute_products;
      });
  keep(&StepChoices::forgotten, dropped);
  keep(&StepChoices::dropped, dropped);
  const std::vector<size_t> tiled = best.choices.tiled_gradients;
  keep(&StepChoices::tiled_gradients, tiled);
  if (status.ok())
    status = EnlargeTiles(kLargestTileBytes, budget_bytes, &best);
  if (!status.ok()) return status;
  return std::move(best.plan);
}

// Makes tiles as large as the budget allows, up to `most_bytes`.
absl::Status PlanSearch::EnlargeTiles(int64_t most_bytes, int64_t budget_bytes,
                                      PlannedChoices* best) const {
  const int64_t smallest = best->choices.tile_bytes;
  for (int64_t bytes = most_bytes;
       bytes > smallest && best->choices.tile_bytes == smallest; bytes /= 2) {
    StepChoices trial = best->choices;
    trial.tile_bytes = bytes;
    const absl::Status status = Try(std::move(trial), budget_bytes, best);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// Keeps weights that were read from their file for later steps. Begins with the
// last layer, since the fewest steps run between its forward and its backward
// steps.
absl::Status PlanSearch::KeepWeights(int64_t budget_bytes,
                                     PlannedChoices* best) const {
  if (budget_bytes == std::numeric_limits<int64_t>::max()) {
    return absl::OkStatus();
  }
  std::vector<int> reads(network_.layers.size(), 0);
  for (const PlannedStep& step : best->plan.steps) {
    if (step.kind == StepKind::kReadWeights) ++reads[step.layer];
  }
  for (size_t l = reads.size(); l-- > 0;) {
    if (reads[l] < 2) continue;
    StepChoices trial = best->choices;
    trial.kept_weights.push_back(l);
    const absl::Status status = Try(std::move(trial), budget_bytes, best);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// Returns the lowest plan of the path, with all outputs kept that do not raise
// it: some even lower it by the bytes of an alignment. A point whose bound is
// above the lowest plan so far need not be packed.
absl::StatusOr<ExecutionPlan> PlanSearch::Lowest(
    std::vector<BoundedChoices> path) const {
  std::stable_sort(path.begin(), path.end(),
                   [](const BoundedChoices& a, const BoundedChoices& b) {
                     return a.bound_bytes < b.bound_bytes;
                   });
  absl::StatusOr<ExecutionPlan> lowest = builder_.Plan(path[0].choices);
  size_t lowest_point = 0;
  for (size_t i = 1; lowest.ok() && i < path.size() &&
                     path[i].bound_bytes < lowest->planned_bytes();
       ++i) {
    absl::StatusOr<ExecutionPlan> plan = builder_.Plan(path[i].choices);
    if (!plan.ok() || plan->planned_bytes() < lowest->planned_bytes()) {
      lowest = std::move(plan);
      lowest_point = i;
    }
  }
  if (!lowest.ok()) return lowest;
  const int64_t bytes = lowest->planned_bytes();
  return KeepAgain(path[lowest_point].choices, bytes, *std::move(lowest));
}

// Returns the layer whose derivative determines the certificate's step and may
// be sliced: the step's own layer, or the activation that takes the derivative
// next. Returns the number of layers if there is none.
size_t PlanSearch::LayerToSlice(const BoundedGraph& graph) const {
  const size_t none = network_.layers.size();
  if (graph.steps.empty()) return none;
  const PlannedStep& step =
      graph.steps[static_cast<size_t>(graph.certificate.step)];
  if (step.kind != StepKind::kCalculateDerivative) return none;
  if (CanSlice(network_, step.layer)) return step.layer;
  for (size_t l = step.layer + 1; l < none; ++l) {
    if (CanSlice(network_, l) &&
        network_.layers[l].inputs[0] == network_.inputs.size() + step.layer) {
      return l;
    }
  }
  return none;
}

}  // namespace footprint
