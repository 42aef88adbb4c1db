#include "footprint/trainer_manager/execution/choice_bound.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <vector>

#include "footprint/trainer_manager/execution/execution_steps.h"
#include "footprint/trainer_manager/execution/execution_types.h"
#include "footprint/trainer_manager/execution/gradient_tiles.h"
#include "footprint/trainer_manager/execution/recomputation.h"

namespace footprint {
namespace {

// Returns the choices with which each step needs the least, among those with
// and without tiles of gradients.
StepChoices AllChoices(const PlanBuilder& builder, bool tile_gradients) {
  const ResolvedNetwork& network = builder.network();
  StepChoices all;
  for (size_t l = 0; l < network.layers.size(); ++l) {
    if (MayDrop(network, builder.options()) && CanRecompute(network, l)) {
      all.dropped.push_back(l);
      all.forgotten.push_back(l);
    }
    if (MaySlice(builder.options()) &&
        (CanSlice(network, l) || CanSliceSum(network, l))) {
      all.sliced.push_back(l);
    }
    if (tile_gradients &&
        CanTileGradient(network, builder.math(), builder.options(), l)) {
      all.tiled_gradients.push_back(l);
    }
  }
  return all;
}

// Returns whether the tensor is live at the step for all choices.
bool IsUnavoidable(const PlannedTensor& tensor, int64_t step) {
  return tensor.kind != TensorKind::kActivation && tensor.lower_step <= step &&
         step < tensor.upper_step;
}

// Returns the storages of the arena that the step needs.
std::set<size_t> StoragesAt(const StorageGraph& graph, size_t step) {
  std::set<size_t> storages;
  std::set<size_t> slices;
  for (const TensorUse& use : graph.steps[step].uses) {
    const size_t storage = graph.storage_of[use.tensor];
    (use.operand.role == Role::kSlice ? slices : storages).insert(storage);
  }
  for (size_t t = 0; t < graph.tensors.size(); ++t) {
    if (IsUnavoidable(graph.tensors[t], static_cast<int64_t>(step)) &&
        slices.count(graph.storage_of[t]) == 0) {
      storages.insert(graph.storage_of[t]);
    }
  }
  return storages;
}

// Returns the bytes that the step could write in place of activations that it
// reads, though this plan gives them other storages.
int64_t BytesInPlace(const StorageGraph& graph, const PlannedStep& step) {
  const size_t none = graph.tensors.size();
  const auto find = [&](const Operand& operand) {
    for (const TensorUse& use : step.uses) {
      if (use.operand == operand) return use.tensor;
    }
    return none;
  };
  int64_t bytes = 0;
  std::set<size_t> counted;
  for (const InPlace& in_place : step.in_place) {
    const size_t written = find(in_place.written);
    const size_t read = find(in_place.read);
    if (written == none || read == none ||
        graph.tensors[read].kind != TensorKind::kActivation ||
        graph.storage_of[written] == graph.storage_of[read] ||
        !counted.insert(written).second) {
      continue;
    }
    bytes += std::min(graph.tensors[written].size_bytes,
                      graph.tensors[read].size_bytes);
  }
  return bytes;
}

// Returns the largest number of bytes in the arena that a step of each layer
// needs.
std::vector<int64_t> LargestOfLayers(const BoundedGraph& graph) {
  std::vector<int64_t> most(graph.network->layers.size(), 0);
  for (size_t s = 0; s < graph.steps.size(); ++s) {
    const PlannedStep& step = graph.steps[s];
    // Reading rows may be a recomputation, too.
    if (step.kind == StepKind::kRecompute || step.kind == StepKind::kReadRows) {
      continue;
    }
    int64_t bytes = -BytesInPlace(graph, step);
    for (const size_t storage : StoragesAt(graph, s)) {
      if (graph.storages[storage].storage_class == StorageClass::kArena) {
        bytes += graph.storages[storage].size_bytes;
      }
    }
    most[step.layer] = std::max(most[step.layer], bytes);
  }
  return most;
}

}  // namespace

absl::StatusOr<int64_t> BoundAllChoices(const PlanBuilder& builder) {
  const auto whole = builder.Bound(AllChoices(builder, false));
  if (!whole.ok()) return whole.status();
  const auto tiled = builder.Bound(AllChoices(builder, true));
  if (!tiled.ok()) return tiled.status();
  const std::vector<int64_t> of_whole = LargestOfLayers(*whole);
  const std::vector<int64_t> of_tiled = LargestOfLayers(*tiled);
  int64_t most = 0;
  for (size_t l = 0; l < of_whole.size(); ++l) {
    most = std::max(most, std::min(of_whole[l], of_tiled[l]));
  }
  return whole->model_bytes + whole->fixed_bytes + most;
}

}  // namespace footprint
