#include "footprint/trainer_manager/layers/layer.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "footprint/base/tensor/dtype.h"

namespace footprint {
namespace {

[[noreturn]] void EndForUndeclared(absl::string_view layer, Operand operand,
                                   const char* what) {
  const absl::string_view role = RoleName(operand.role);
  std::fprintf(stderr,
               "trainer_manager: layer \"%.*s\": a step %s its %.*s %d, which "
               "its signature does not declare\n",
               static_cast<int>(layer.size()), layer.data(), what,
               static_cast<int>(role.size()), role.data(), operand.index);
  std::abort();
}

}  // namespace

absl::string_view RoleName(Role role) {
  switch (role) {
    case Role::kInput:
      return "input";
    case Role::kLabel:
      return "label";
    case Role::kOutput:
      return "output";
    case Role::kWeight:
      return "weight";
    case Role::kRunningStatistic:
      return "statistic";
    case Role::kSaved:
      return "saved tensor";
    case Role::kWorkspace:
      return "workspace";
    case Role::kGradient:
      return "gradient";
    case Role::kOutputDerivative:
      return "output derivative";
    case Role::kInputDerivative:
      return "input derivative";
    case Role::kOptimizerState:
      return "optimizer state";
    case Role::kSlice:
      return "slice";
  }
  return "unknown";
}

absl::string_view LayerName::Text() const {
  if (names == nullptr) return "";
  const char* name = names;
  for (size_t l = 0; l < layer; ++l) name += std::strlen(name) + 1;
  return name;
}

const StepData::Slot* StepData::FindOrNull(Operand operand) const {
  for (const Slot& slot : slots_) {
    if (slot.operand == operand) return &slot;
  }
  return nullptr;
}

const StepData::Slot& StepData::Find(Operand operand, bool read,
                                     bool write) const {
  const Slot* slot = FindOrNull(operand);
  if (slot == nullptr) EndForUndeclared(name_.Text(), operand, "uses");
  if (read && !slot->readable) EndForUndeclared(name_.Text(), operand, "reads");
  if (write && !slot->writable)
    EndForUndeclared(name_.Text(), operand, "writes");
  return *slot;
}

bool StepData::Has(Role role, int index) const {
  return FindOrNull({role, index}) != nullptr;
}

void* StepData::Workspace() const {
  for (const Slot& slot : slots_) {
    if (slot.operand.role == Role::kWorkspace) return slot.data;
  }
  return nullptr;
}

void Layer::CalculateGradient(const StepData&) const {}
void Layer::CalculateDerivative(const StepData&) const {}
absl::Status Layer::Recompute(const StepData& data) const {
  return Forward(data);
}
void Layer::RestoreInput(const StepData&) const {}

absl::Status CheckInputCount(const LayerInputs& inputs, size_t count) {
  if (inputs.inputs.size() == count) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "takes ", count, " input(s), but has ", inputs.inputs.size()));
}

absl::Status CheckInputType(const LayerInputs& inputs, size_t index,
                            DType type) {
  const DType actual = inputs.inputs[index].type;
  if (actual == type) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("input ", index, " must be of ", DTypeName(type), ", not ",
                   DTypeName(actual)));
}

absl::Status CheckInputRank(const LayerInputs& inputs, size_t index,
                            int min_rank, int max_rank) {
  const Shape& shape = inputs.inputs[index].shape;
  if (shape.rank() >= min_rank && shape.rank() <= max_rank) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("input ", index, " has shape ", shape.ToString(), "; from ",
                   min_rank, " to ", max_rank, " extents are needed"));
}

absl::Status CheckOneFloatInput(const LayerInputs& inputs, int min_rank,
                                int max_rank) {
  absl::Status status = CheckInputCount(inputs, 1);
  if (status.ok()) status = CheckInputType(inputs, 0, DType::kF32);
  if (status.ok()) status = CheckInputRank(inputs, 0, min_rank, max_rank);
  return status;
}

absl::Status CheckSizes(const LayerSignature& signature) {
  std::vector<TensorType> specs = {signature.output};
  if (signature.label.has_value()) specs.push_back(*signature.label);
  for (const auto* list : {&signature.weights, &signature.statistics}) {
    for (const WeightSpec& weight : *list) specs.push_back(weight.spec);
  }
  for (const auto* list : {&signature.saved, &signature.workspaces}) {
    specs.insert(specs.end(), list->begin(), list->end());
  }
  for (const TensorType& spec : specs) {
    const absl::Status status = CheckedSizeBytes(spec).status();
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

void AddWorkspace(int64_t size_bytes, LayerSignature* signature, StepUse* use) {
  if (size_bytes == 0) return;
  use->writes.push_back(
      {Role::kWorkspace, static_cast<int>(signature->workspaces.size())});
  signature->workspaces.push_back({{size_bytes}, DType::kU8});
}

}  // namespace footprint
