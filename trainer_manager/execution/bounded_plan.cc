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
    if (step.kind != StepKind::kForward && step.kind != StepKind::kRecompute) {
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
