#include "footprint/trainer_manager/execution/bounded_plan.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/memory/alignment.h"
#include "footprint/trainer_manager/execution/storage_sharing.h"
#include "footprint/trainer_manager/planner/lower_bound.h"
#include "footprint/trainer_manager/planner/planner.h"

namespace footprint {
namespace {

// If sweeps miss the bound, the exact search gets a tenth of a second for each
// plan.
constexpr int64_t kNodeLimit = 100'000;

// The arena's storages as requests to the planner.
struct ArenaRequests {
  std::vector<TensorRequest> requests;
  std::vector<size_t> storages;  // of each request
};

ArenaRequests RequestArena(const StorageGraph& graph, int64_t alignment) {
  ArenaRequests arena;
  for (size_t i = 0; i < graph.storages.size(); ++i) {
    const Storage& storage = graph.storages[i];
    if (storage.storage_class != StorageClass::kArena) continue;
    arena.requests.push_back({graph.tensors[storage.tensors[0]].name,
                              storage.lower_step, storage.upper_step,
                              storage.size_bytes, alignment});
    arena.storages.push_back(i);
  }
  return arena;
}

// Fails unless the graph's bytes can be counted in 64 bits.
absl::Status CheckSum(const StorageGraph& graph, int64_t arena_bytes) {
  if (arena_bytes <= std::numeric_limits<int64_t>::max() - graph.model_bytes -
                         graph.fixed_bytes) {
    return absl::OkStatus();
  }
  return absl::OutOfRangeError(absl::StrCat(
      "the tensors need more than 2^63 - 1 bytes: ", graph.model_bytes,
      " for weights, ", graph.fixed_bytes, " for inputs and outputs, and ",
      arena_bytes, " for the rest"));
}

// Returns the bound in terms of the graph.
Certificate Certify(const StorageGraph& graph, const LowerBound& bound,
                    const std::vector<size_t>& storages) {
  Certificate certificate;
  certificate.bytes = bound.bytes;
  certificate.step = bound.step;
  for (const size_t request : bound.tensors) {
    const size_t t =
        TensorAt(graph, graph.storages[storages[request]], bound.step);
    certificate.tensors.push_back(t);
    if (graph.tensors[t].kind != TensorKind::kActivation) continue;
    const PlannedStep& writer =
        graph.steps[static_cast<size_t>(graph.tensors[t].lower_step)];
    if (writer.kind == StepKind::kForward ||
        writer.kind == StepKind::kRecompute ||
        writer.kind == StepKind::kReadRows) {
      certificate.layers.push_back(writer.layer);
    }
  }
  return certificate;
}

// Returns the offset of each storage in the memory of its class. Those outside
// the arena lie side by side, as AssignStorages counts them.
std::vector<int64_t> FindOffsets(const StorageGraph& graph, int64_t alignment,
                                 const std::vector<int64_t>& in_arena) {
  std::vector<int64_t> offsets(graph.storages.size(), 0);
  size_t request = 0;
  int64_t model_bytes = 0;
  int64_t fixed_bytes = 0;
  for (size_t s = 0; s < offsets.size(); ++s) {
    const Storage& storage = graph.storages[s];
    if (storage.storage_class == StorageClass::kArena) {
      offsets[s] = in_arena[request++];
    } else if (storage.storage_class != StorageClass::kUser) {
      int64_t& bytes = storage.storage_class == StorageClass::kModel
                           ? model_bytes
                           : fixed_bytes;
      offsets[s] = AlignUp(bytes, alignment);
      bytes = offsets[s] + storage.size_bytes;
    }
  }
  return offsets;
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

absl::StatusOr<StorageGraph> PlanBuilder::BuildStorages(
    const StepChoices& choices) const {
  absl::StatusOr<StepGraph> steps =
      BuildSteps(network_, math_, options_, optimizer_states_, choices);
  if (!steps.ok()) return steps.status();
  return AssignStorages(*std::move(steps), options_);
}

absl::StatusOr<BoundedGraph> PlanBuilder::Bound(
    const StepChoices& choices) const {
  absl::StatusOr<StorageGraph> graph = BuildStorages(choices);
  if (!graph.ok()) return graph.status();
  const ArenaRequests arena = RequestArena(*graph, options_.alignment_bytes);
  absl::Status status = CheckRequests(arena.requests);
  if (!status.ok()) return status;
  const LowerBound bound = ComputeLowerBound(arena.requests);
  status = CheckSum(*graph, bound.bytes);
  if (!status.ok()) return status;
  Certificate certificate = Certify(*graph, bound, arena.storages);
  return BoundedGraph{*std::move(graph), std::move(certificate)};
}

absl::StatusOr<ExecutionPlan> PlanBuilder::Place(StorageGraph graph) const {
  const int64_t alignment = options_.alignment_bytes;
  const ArenaRequests arena = RequestArena(graph, alignment);
  PlanOptions plan_options;
  plan_options.node_limit = kNodeLimit;
  const absl::StatusOr<MemoryPlan> placed =
      PlanMemory(arena.requests, plan_options);
  if (!placed.ok()) return placed.status();
  const absl::Status status = CheckSum(graph, placed->height_bytes);
  if (!status.ok()) return status;
  Certificate certificate = Certify(graph, placed->lower_bound, arena.storages);
  std::vector<int64_t> offsets =
      FindOffsets(graph, alignment, placed->offsets_bytes);
  ExecutionPlan plan{{std::move(graph), std::move(certificate)},
                     std::move(offsets),
                     placed->height_bytes};
  plan.fingerprint = PlanFingerprint(plan);
  return plan;
}

absl::StatusOr<ExecutionPlan> PlanBuilder::Plan(
    const StepChoices& choices) const {
  absl::StatusOr<StorageGraph> graph = BuildStorages(choices);
  if (!graph.ok()) return graph.status();
  return Place(*std::move(graph));
}

void PlanBuilder::PreferSwaps(StepChoices* choices) const {
  if (!options_.read_frozen_weights) return;
  const auto is_cheaper_to_swap = [this](size_t l) {
    return RecomputationReadBytes(*network_, l) >
           2 * SizeBytes(network_->layers[l].signature.output);
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

}  // namespace footprint
