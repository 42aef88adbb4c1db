#include "footprint/trainer_manager/execution/plan_search.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/trainer_manager/execution/recomputation.h"
#include "footprint/trainer_manager/execution/storage_sharing.h"
#include "footprint/trainer_manager/planner/lower_bound.h"
#include "footprint/trainer_manager/planner/planner.h"

namespace footprint {
namespace {

// Where sweeps miss the bound, the exact search gets a tenth of a second for
// each plan.
constexpr int64_t kNodeLimit = 100'000;

// What the arena's storages ask of the planner.
std::vector<TensorRequest> RequestArena(int64_t alignment,
                                        ExecutionPlan* plan) {
  std::vector<TensorRequest> requests;
  for (size_t i = 0; i < plan->storages.size(); ++i) {
    const Storage& storage = plan->storages[i];
    if (storage.storage_class != StorageClass::kArena) continue;
    requests.push_back({plan->tensors[storage.tensors[0]].name,
                        storage.lower_step, storage.upper_step,
                        storage.size_bytes, alignment});
    plan->arena_storages.push_back(i);
  }
  return requests;
}

// All of it must be counted in 64 bits.
absl::Status CheckSum(const ExecutionPlan& plan, int64_t arena_bytes) {
  if (arena_bytes <= std::numeric_limits<int64_t>::max() - plan.model_bytes -
                         plan.fixed_bytes) {
    return absl::OkStatus();
  }
  return absl::OutOfRangeError(absl::StrCat(
      "the tensors need more than 2^63 - 1 bytes: ", plan.model_bytes,
      " for weights, ", plan.fixed_bytes, " for inputs and outputs, and ",
      arena_bytes, " for the rest"));
}

absl::Status PlaceInArena(int64_t alignment, ExecutionPlan* plan) {
  const std::vector<TensorRequest> requests = RequestArena(alignment, plan);
  PlanOptions plan_options;
  plan_options.node_limit = kNodeLimit;
  absl::StatusOr<MemoryPlan> arena = PlanMemory(requests, plan_options);
  if (!arena.ok()) return arena.status();
  const absl::Status status = CheckSum(*plan, arena->height_bytes);
  if (!status.ok()) return status;
  plan->arena = *std::move(arena);
  for (size_t i = 0; i < requests.size(); ++i) {
    plan->storages[plan->arena_storages[i]].offset_bytes =
        plan->arena.offsets_bytes[i];
  }
  return absl::OkStatus();
}

bool Contains(const std::vector<size_t>& layers, size_t layer) {
  return std::find(layers.begin(), layers.end(), layer) != layers.end();
}

std::vector<size_t> Without(std::vector<size_t> layers, size_t layer) {
  layers.erase(std::remove(layers.begin(), layers.end(), layer), layers.end());
  return layers;
}

}  // namespace

PlanSearch::PlanSearch(const ResolvedNetwork& network, const MathBackend& math,
                       const MemoryOptions& options, int optimizer_states,
                       bool may_swap)
    : network_(network),
      math_(math),
      options_(options),
      optimizer_states_(optimizer_states),
      may_swap_(may_swap) {}

absl::StatusOr<ExecutionPlan> PlanSearch::Run() const {
  Point first;
  absl::StatusOr<ExecutionPlan> bounded = Bound(first.choices);
  if (!bounded.ok()) return bounded;
  const absl::Status status = Slice(&first.choices, &*bounded);
  if (!status.ok()) return status;
  first.bound_bytes = bounded->bound_bytes();
  std::vector<Point> path = {std::move(first)};
  while (true) {
    if (path.back().bound_bytes <= options_.budget_bytes) {
      auto plan = PlanIfItFits(path.back().choices);
      if (!plan.ok()) return plan.status();
      if (plan->has_value()) {
        return KeepAgain(path.back().choices, **std::move(plan));
      }
    }
    absl::StatusOr<absl::optional<Point>> next = Drop(path.back());
    if (next.ok() && !next->has_value()) next = Swap(path.back());
    if (!next.ok()) return next.status();
    if (!next->has_value()) return Lowest(std::move(path));
    path.push_back(**std::move(next));
  }
}

absl::StatusOr<ExecutionPlan> PlanSearch::BuildStorages(
    const StepChoices& choices) const {
  ExecutionPlan plan;
  plan.math = &math_;
  absl::Status status =
      BuildSteps(network_, options_, optimizer_states_, choices, &plan);
  if (status.ok()) status = AssignStorages(options_, &plan);
  if (!status.ok()) return status;
  return plan;
}

// Only what is bounded: the arena has a lower bound, but no places.
absl::StatusOr<ExecutionPlan> PlanSearch::Bound(
    const StepChoices& choices) const {
  absl::StatusOr<ExecutionPlan> plan = BuildStorages(choices);
  if (!plan.ok()) return plan;
  const std::vector<TensorRequest> requests =
      RequestArena(options_.alignment_bytes, &*plan);
  absl::Status status = CheckRequests(requests);
  if (!status.ok()) return status;
  plan->arena.lower_bound = ComputeLowerBound(requests);
  status = CheckSum(*plan, plan->arena.lower_bound.bytes);
  if (!status.ok()) return status;
  return plan;
}

absl::StatusOr<ExecutionPlan> PlanSearch::Plan(
    const StepChoices& choices) const {
  absl::StatusOr<ExecutionPlan> plan = BuildStorages(choices);
  if (!plan.ok()) return plan;
  const absl::Status status = PlaceInArena(options_.alignment_bytes, &*plan);
  if (!status.ok()) return status;
  return plan;
}

absl::StatusOr<absl::optional<ExecutionPlan>> PlanSearch::PlanIfItFits(
    const StepChoices& choices) const {
  absl::StatusOr<ExecutionPlan> plan = Plan(choices);
  if (!plan.ok()) return plan.status();
  absl::optional<ExecutionPlan> fitting;
  if (plan->planned_bytes() <= options_.budget_bytes) {
    fitting = *std::move(plan);
  }
  return fitting;
}

// Slices one derivative after the other, as the certificate asks for, as long
// as that lowers the bound, which `bounded` is of.
absl::Status PlanSearch::Slice(StepChoices* choices,
                               ExecutionPlan* bounded) const {
  if (!MaySlice() || LayerToSlice(*bounded) == network_.layers.size()) {
    return absl::OkStatus();
  }
  StepChoices trial = *choices;
  int64_t last_bytes = bounded->bound_bytes();
  ExecutionPlan last = *bounded;
  for (size_t round = 0; round < network_.layers.size(); ++round) {
    const size_t layer = LayerToSlice(last);
    if (layer == network_.layers.size()) break;
    trial.sliced.push_back(layer);
    absl::StatusOr<ExecutionPlan> next = Bound(trial);
    if (!next.ok()) return next.status();
    if (next->bound_bytes() > last_bytes) break;
    last = *std::move(next);
    last_bytes = last.bound_bytes();
    if (last_bytes < bounded->bound_bytes()) {
      *bounded = last;
      *choices = trial;
    }
  }
  return absl::OkStatus();
}

// Drops the output of those that the certificate names that lowers the bound
// most; none where none lowers it.
absl::StatusOr<absl::optional<PlanSearch::Point>> PlanSearch::Drop(
    const Point& from) const {
  absl::optional<Point> best;
  if (!MayDrop()) return best;
  const absl::StatusOr<ExecutionPlan> bounded = Bound(from.choices);
  if (!bounded.ok()) return bounded.status();
  for (const size_t layer : LayersInCertificate(*bounded)) {
    if (!CanRecompute(network_, layer) ||
        Contains(from.choices.dropped, layer)) {
      continue;
    }
    StepChoices trial = from.choices;
    const std::vector<size_t> more =
        LayersToDrop(network_, trial.dropped, layer);
    trial.dropped.insert(trial.dropped.end(), more.begin(), more.end());
    absl::StatusOr<ExecutionPlan> next = Bound(trial);
    if (!next.ok()) return next.status();
    const absl::Status status = Slice(&trial, &*next);
    if (!status.ok()) return status;
    const int64_t bytes = next->bound_bytes();
    if (bytes >= (best ? best->bound_bytes : from.bound_bytes)) continue;
    best = Point{std::move(trial), bytes};
  }
  return best;
}

// The same for what goes to the file; also where the bound stays, since several
// steps may need as much.
absl::StatusOr<absl::optional<PlanSearch::Point>> PlanSearch::Swap(
    const Point& from) const {
  absl::optional<Point> best;
  if (!MayDrop() || !may_swap_) return best;
  const absl::StatusOr<ExecutionPlan> bounded = Bound(from.choices);
  if (!bounded.ok()) return bounded.status();
  for (const size_t layer : LayersInCertificate(*bounded)) {
    if (Contains(from.choices.swapped, layer)) continue;
    StepChoices trial = from.choices;
    trial.swapped.push_back(layer);
    trial.dropped = Without(trial.dropped, layer);
    absl::StatusOr<ExecutionPlan> next = Bound(trial);
    if (!next.ok()) return next.status();
    const absl::Status status = Slice(&trial, &*next);
    if (!status.ok()) return status;
    const int64_t bytes = next->bound_bytes();
    if (bytes > from.bound_bytes || (best && bytes >= best->bound_bytes)) {
      continue;
    }
    best = Point{std::move(trial), bytes};
  }
  return best;
}

// Keeps again what need not go: first what is swapped, the largest first, then
// what is calculated again, the costliest first.
absl::StatusOr<ExecutionPlan> PlanSearch::KeepAgain(const StepChoices& choices,
                                                    ExecutionPlan plan) const {
  StepChoices kept = choices;
  const auto try_without = [&](std::vector<size_t> StepChoices::*list,
                               size_t layer) -> absl::Status {
    StepChoices trial = kept;
    trial.*list = Without(trial.*list, layer);
    const absl::StatusOr<ExecutionPlan> bounded = Bound(trial);
    if (!bounded.ok()) return bounded.status();
    if (bounded->bound_bytes() > options_.budget_bytes) return absl::OkStatus();
    auto fitting = PlanIfItFits(trial);
    if (!fitting.ok()) return fitting.status();
    if (!fitting->has_value()) return absl::OkStatus();
    plan = **std::move(fitting);
    kept = std::move(trial);
    return absl::OkStatus();
  };
  std::vector<size_t> layers = choices.swapped;
  std::stable_sort(layers.begin(), layers.end(), [this](size_t a, size_t b) {
    return SizeBytes(network_.layers[a].signature.output) >
           SizeBytes(network_.layers[b].signature.output);
  });
  for (const size_t layer : layers) {
    const absl::Status status = try_without(&StepChoices::swapped, layer);
    if (!status.ok()) return status;
  }
  layers = choices.dropped;
  std::stable_sort(layers.begin(), layers.end(), [this](size_t a, size_t b) {
    return network_.layers[a].signature.recompute_products >
           network_.layers[b].signature.recompute_products;
  });
  for (const size_t layer : layers) {
    const absl::Status status = try_without(&StepChoices::dropped, layer);
    if (!status.ok()) return status;
  }
  return plan;
}

// The lowest plan of the path. What is bounded above the lowest so far need not
// be packed.
absl::StatusOr<ExecutionPlan> PlanSearch::Lowest(
    std::vector<Point> path) const {
  std::stable_sort(path.begin(), path.end(),
                   [](const Point& a, const Point& b) {
                     return a.bound_bytes < b.bound_bytes;
                   });
  absl::StatusOr<ExecutionPlan> lowest = Plan(path[0].choices);
  for (size_t i = 1; lowest.ok() && i < path.size() &&
                     path[i].bound_bytes < lowest->planned_bytes();
       ++i) {
    absl::StatusOr<ExecutionPlan> plan = Plan(path[i].choices);
    if (!plan.ok() || plan->planned_bytes() < lowest->planned_bytes()) {
      lowest = std::move(plan);
    }
  }
  return lowest;
}

bool PlanSearch::MaySlice() const {
  return options_.slice_derivatives && options_.share_edges &&
         options_.reuse_activations && options_.reuse_derivatives &&
         options_.in_place && options_.reuse_workspaces;
}

bool PlanSearch::MayDrop() const {
  return network_.mode == NetworkMode::kTraining && options_.share_edges;
}

// The layer whose derivative makes the certificate's step what it is and may be
// sliced: its own step, or that of the activation that takes it next. The
// number of layers if there is none.
size_t PlanSearch::LayerToSlice(const ExecutionPlan& plan) const {
  const size_t none = network_.layers.size();
  if (plan.steps.empty()) return none;
  const PlannedStep& step =
      plan.steps[static_cast<size_t>(plan.arena.lower_bound.step)];
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

// The layers whose outputs, as forward steps left them or calculated them
// again, lie in the arena at the certificate's step.
std::vector<size_t> PlanSearch::LayersInCertificate(
    const ExecutionPlan& plan) const {
  std::vector<size_t> layers;
  for (const size_t tensor : CertificateTensors(plan)) {
    if (plan.tensors[tensor].kind != TensorKind::kActivation) continue;
    for (const PlannedStep& step : plan.steps) {
      if (step.kind != StepKind::kForward &&
          step.kind != StepKind::kRecompute) {
        continue;
      }
      for (const TensorUse& use : step.uses) {
        if (use.tensor == tensor && use.written) layers.push_back(step.layer);
      }
    }
  }
  return layers;
}

}  // namespace footprint
