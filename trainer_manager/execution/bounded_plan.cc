#include "footprint/trainer_manager/execution/bounded_plan.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/trainer_manager/execution/storage_sharing.h"
#include "footprint/trainer_manager/planner/lower_bound.h"
#include "footprint/trainer_manager/planner/planner.h"

namespace footprint {
namespace {

// If sweeps miss the bound, the exact search gets a tenth of a second for each
// plan.
constexpr int64_t kNodeLimit = 100'000;

// Returns the arena's storages as requests to the planner.
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

// Fails unless the plan's bytes can be counted in 64 bits.
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

// Returns the bytes of weights that the recomputation of the layer's output
// reads from their file if frozen weights stay there.
int64_t RecomputationReadBytes(const ResolvedNetwork& network, size_t l) {
  const ResolvedNetwork::ResolvedLayer& layer = network.layers[l];
  if (layer.signature.picks_rows) return 0;
  const ResolvedNetwork::ResolvedLayer& owner =
      network.layers[layer.weights_of];
  int64_t bytes = 0;
  for (const Operand& operand : layer.signature.recompute.reads) {
    const auto index = static_cast<size_t>(operand.index);
    if (operand.role == Role::kWeight && owner.is_frozen) {
      bytes += SizeBytes(owner.signature.weights[index].spec);
    }
    if (operand.role == Role::kRunningStatistic &&
        layer.signature.statistics[index].is_constant) {
      bytes += SizeBytes(layer.signature.statistics[index].spec);
    }
  }
  return bytes;
}

}  // namespace

absl::StatusOr<ExecutionPlan> PlanBuilder::BuildStorages(
    const StepChoices& choices, ResolvedNetwork network) const {
  ExecutionPlan plan;
  plan.math = &math_;
  absl::Status status = BuildSteps(std::move(network), options_,
                                   optimizer_states_, choices, &plan);
  if (status.ok()) status = AssignStorages(options_, &plan);
  if (!status.ok()) return status;
  return plan;
}

absl::StatusOr<ExecutionPlan> PlanBuilder::Bound(
    const StepChoices& choices, ResolvedNetwork network) const {
  absl::StatusOr<ExecutionPlan> plan =
      BuildStorages(choices, std::move(network));
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

absl::StatusOr<ExecutionPlan> PlanBuilder::Plan(
    const StepChoices& choices) const {
  absl::StatusOr<ExecutionPlan> plan = BuildStorages(choices, network_);
  if (!plan.ok()) return plan;
  const absl::Status status = PlaceInArena(options_.alignment_bytes, &*plan);
  if (!status.ok()) return status;
  return plan;
}

absl::StatusOr<absl::optional<ExecutionPlan>> PlanBuilder::PlanIfItFits(
    const StepChoices& choices, int64_t budget_bytes) const {
  absl::StatusOr<ExecutionPlan> plan = Plan(choices);
  if (!plan.ok()) return plan.status();
  absl::optional<ExecutionPlan> fitting;
  if (plan->planned_bytes() <= budget_bytes) {
    fitting = *std::move(plan);
  }
  return fitting;
}

void PlanBuilder::PreferSwaps(StepChoices* choices) const {
  if (!options_.read_frozen_weights) return;
  const auto is_cheaper_to_swap = [this](size_t l) {
    return RecomputationReadBytes(network_, l) >
           2 * SizeBytes(network_.layers[l].signature.output);
  };
  std::vector<size_t>& dropped = choices->dropped;
  const auto first =
      std::stable_partition(dropped.begin(), dropped.end(),
                            [&](size_t l) { return !is_cheaper_to_swap(l); });
  for (auto l = first; l != dropped.end(); ++l) {
    if (std::find(choices->swapped.begin(), choices->swapped.end(), *l) ==
        choices->swapped.end()) {
      choices->swapped.push_back(*l);
    }
  }
  dropped.erase(first, dropped.end());
  std::vector<size_t>& forgotten = choices->forgotten;
  forgotten.erase(
      std::remove_if(forgotten.begin(), forgotten.end(), is_cheaper_to_swap),
      forgotten.end());
}

bool MaySlice(const MemoryOptions& options) {
  return options.slice_derivatives && options.share_edges &&
         options.reuse_activations && options.reuse_derivatives &&
         options.in_place && options.reuse_workspaces;
}

bool MayDrop(const ResolvedNetwork& network, const MemoryOptions& options) {
  return network.mode == NetworkMode::kTraining && options.share_edges;
}

std::vector<size_t> LayersInCertificate(const ExecutionPlan& plan) {
  const size_t none = plan.network.layers.size();
  std::vector<size_t> writers(plan.tensors.size(), none);
  for (const PlannedStep& step : plan.steps) {
    if (step.kind != StepKind::kForward && step.kind != StepKind::kRecompute &&
        step.kind != StepKind::kReadRows) {
      continue;
    }
    for (const TensorUse& use : step.uses) {
      if (use.written) writers[use.tensor] = step.layer;
    }
  }
  std::vector<size_t> layers;
  for (const size_t tensor : CertificateTensors(plan)) {
    if (plan.tensors[tensor].kind == TensorKind::kActivation &&
        writers[tensor] != none) {
      layers.push_back(writers[tensor]);
    }
  }
  return layers;
}

}  // namespace footprint
