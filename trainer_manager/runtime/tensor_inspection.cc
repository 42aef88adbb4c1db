#include "footprint/trainer_manager/runtime/tensor_inspection.h"

#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/trainer_manager/layers/layer.h"
#include "footprint/trainer_manager/runtime/step_table.h"

namespace footprint {
namespace {

// Returns whether the tensor is one tile of a matrix at a time.
bool HoldsTiles(const ExecutionPlan& plan, size_t tensor) {
  if (plan.tensors[tensor].kind != TensorKind::kReadWeight) return false;
  for (const PlannedStep& step : plan.steps) {
    if (TileColumns(plan, step) == 0) continue;
    for (const TensorUse& use : step.uses) {
      if (use.tensor == tensor &&
          use.operand ==
              FindMatrix(plan.network->layers[step.layer].signature)) {
        return true;
      }
    }
  }
  return false;
}

// Returns why a tensor cannot be read after a step; empty if it can.
absl::string_view WhyUnreadable(const PlannedTensor& tensor, StorageClass where,
                                DType wanted, bool has_arena) {
  if (tensor.spec.type != wanted) {
    switch (tensor.spec.type) {
      case DType::kF32:
        return "holds floats; use Inspect<float>";
      case DType::kI32:
        return "holds indices; use Inspect<int32_t>";
      default:
        return "holds bytes; use Inspect<uint8_t>";
    }
  }
  if (where == StorageClass::kUser) return "lies in the caller's memory";
  // Also applies if the memory now holds another tensor that is kept.
  if (!tensor.is_retained) {
    return "is not kept; plan with MemoryOptions::Debug to keep it";
  }
  if (where == StorageClass::kArena && !has_arena) {
    return "lies in the arena, which is not there: run a step, in inference "
           "with ManagerOptions::retain_arena";
  }
  return "";
}

}  // namespace

absl::StatusOr<absl::Span<const char>> LocateTensor(const ExecutionPlan& plan,
                                                    absl::string_view name,
                                                    DType type,
                                                    const PlanMemory& memory) {
  for (size_t t = 0; t < plan.tensors.size(); ++t) {
    const PlannedTensor& tensor = plan.tensors[t];
    if (tensor.name != name) continue;
    const StorageClass where = plan.StorageOfTensor(t).storage_class;
    const absl::string_view why =
        HoldsTiles(plan, t)
            ? "is read by tiles, of which only the last is there; raise "
              "MemoryOptions::budget_bytes to have all of it"
            : WhyUnreadable(tensor, where, type, memory.arena != nullptr);
    if (!why.empty()) {
      return absl::FailedPreconditionError(
          absl::StrCat("tensor \"", name, "\" ", why));
    }
    const auto size = static_cast<size_t>(tensor.size_bytes);
    if (where == StorageClass::kModel) {
      const absl::StatusOr<float*> parameter =
          LocateParameter(tensor, *memory.parameters);
      if (!parameter.ok()) return parameter.status();
      return absl::MakeConstSpan(reinterpret_cast<const char*>(*parameter),
                                 size);
    }
    const char* const start =
        where == StorageClass::kFixed ? memory.fixed : memory.arena;
    return absl::MakeConstSpan(start + plan.OffsetOfTensor(t), size);
  }
  return absl::NotFoundError(
      absl::StrCat("the plan has no tensor \"", name, "\""));
}

}  // namespace footprint
