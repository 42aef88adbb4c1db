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
std::set<size_t> StoragesAt(const ExecutionPlan& plan, size_t step) {
  std::set<size_t> storages;
  std::set<size_t> slices;
  for (const TensorUse& use : plan.steps[step].uses) {
    const size_t storage = plan.tensors[use.tensor].storage;
    (use.operand.role == Role::kSlice ? slices : storages).insert(storage);
  }
  for (const size_t s : plan.arena_storages) {
    for (const size_t t : plan.storages[s].tensors) {
      if (IsUnavoidable(plan.tensors[t], static_cast<int64_t>(step)) &&
          slices.count(s) == 0) {
        storages.insert(s);
      }
    }
  }
  return storages;
}

// Returns the bytes that the step could write in place of activations that it
// reads, though this plan gives them other storages.
int64_t BytesInPlace(const ExecutionPlan& plan, const PlannedStep& step) {
  const auto find = [&](const Operand& operand) -> const PlannedTensor* {
    for (const TensorUse& use : step.uses) {
      if (use.operand == operand) return &plan.tensors[use.tensor];
    }
    return nullptr;
  };
  int64_t bytes = 0;
  std::set<const PlannedTensor*> counted;
  for (const InPlace& in_place : step.in_place) {
    const PlannedTensor* const written = find(in_place.written);
    const PlannedTensor* const read = find(in_place.read);
    if (written == nullptr || read == nullptr ||
        read->kind != TensorKind::kActivation ||
        written->storage == read->storage || !counted.insert(written).second) {
      continue;
    }
    bytes += std::min(written->size_bytes, read->size_bytes);
  }
  return bytes;
}

}  // namespace

absl::StatusOr<int64_t> BoundAllChoices(const PlanBuilder& builder) {
  const absl::StatusOr<ExecutionPlan> plan = builder.Bound(AllChoices(builder));
  if (!plan.ok()) return plan.status();
  int64_t most = 0;
  for (size_t s = 0; s < plan->steps.size(); ++s) {
    // Reading rows may be a recomputation, too.
    if (plan->steps[s].kind == StepKind::kRecompute ||
        plan->steps[s].kind == StepKind::kReadRows) {
      continue;
    }
    int64_t bytes = -BytesInPlace(*plan, plan->steps[s]);
    for (const size_t storage : StoragesAt(*plan, s)) {
      if (plan->storages[storage].storage_class == StorageClass::kArena) {
        bytes += plan->storages[storage].size_bytes;
      }
    }
    most = std::max(most, bytes);
  }
  return plan->model_bytes + plan->fixed_bytes + most;
}

}  // namespace footprint
