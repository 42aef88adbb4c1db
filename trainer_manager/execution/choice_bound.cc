#include "footprint/trainer_manager/execution/choice_bound.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <vector>

#include "footprint/trainer_manager/execution/execution_steps.h"
#include "footprint/trainer_manager/execution/execution_types.h"
#include "footprint/trainer_manager/execution/recomputation.h"

namespace footprint {
namespace {

// Returns the choices with which each step needs the least.
StepChoices AllChoices(const PlanBuilder& builder) {
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

}  // namespace

absl::StatusOr<int64_t> BoundAllChoices(const PlanBuilder& builder) {
  const absl::StatusOr<BoundedGraph> graph = builder.Bound(AllChoices(builder));
  if (!graph.ok()) return graph.status();
  int64_t most = 0;
  for (size_t s = 0; s < graph->steps.size(); ++s) {
    // Reading rows may be a recomputation, too.
    if (graph->steps[s].kind == StepKind::kRecompute ||
        graph->steps[s].kind == StepKind::kReadRows) {
      continue;
    }
    int64_t bytes = -BytesInPlace(*graph, graph->steps[s]);
    for (const size_t storage : StoragesAt(*graph, s)) {
      if (graph->storages[storage].storage_class == StorageClass::kArena) {
        bytes += graph->storages[storage].size_bytes;
      }
    }
    most = std::max(most, bytes);
  }
  return graph->model_bytes + graph->fixed_bytes + most;
}

}  // namespace footprint
