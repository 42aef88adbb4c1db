#include "footprint/trainer_manager/layers/layer.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

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

[[noreturn]] void EndForMissing(const StepData& data, const char* step) {
  const absl::string_view layer = data.name().Text();
  std::fprintf(stderr,
               "trainer_manager: layer \"%.*s\": its signature declares a step "
               "that it does not have: override %s\n",
               static_cast<int>(layer.size()), layer.data(), step);
  std::abort();
}

bool Has(const std::vector<Operand>& operands, const Operand& operand) {
  return std::find(operands.begin(), operands.end(), operand) != operands.end();
}

// Returns how many operands with this role the layer has.
size_t CountOperands(Role role, const LayerSignature& signature,
                     const LayerInputs& inputs) {
  switch (role) {
    case Role::kInput:
    case Role::kInputDerivative:
      return inputs.inputs.size();
    case Role::kLabel:
      return signature.label.has_value() ? 1 : 0;
    case Role::kOutput:
    case Role::kOutputDerivative:
      return 1;
    case Role::kWeight:
    case Role::kGradient:
      return signature.weights.size();
    case Role::kRunningStatistic:
      return signature.statistics.size();
    case Role::kSaved:
      return signature.saved.size();
    case Role::kWorkspace:
      return signature.workspaces.size();
    case Role::kOptimizerState:
    case Role::kSlice:
      break;  // no step of a layer has these
  }
  return 0;
}

std::string DescribeOperand(const Operand& operand) {
  return absl::StrCat(RoleName(operand.role), " ", operand.index);
}

absl::Status CheckUse(const char* step, const StepUse& use,
                      const LayerSignature& signature,
                      const LayerInputs& inputs) {
  const auto check = [&](const Operand& operand) -> absl::Status {
    if (operand.index >= 0 &&
        static_cast<size_t>(operand.index) <
            CountOperands(operand.role, signature, inputs)) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(
        absl::StrCat(step, " declares ", DescribeOperand(operand),
                     ", which the layer does not have"));
  };
  absl::Status status;
  for (const auto* operands : {&use.reads, &use.writes}) {
    for (const Operand& operand : *operands) {
      if (status.ok()) status = check(operand);
    }
  }
  for (const InPlace& pair : use.in_place) {
    if (status.ok()) status = check(pair.written);
    if (status.ok()) status = check(pair.read);
  }
  for (const Operand& operand : use.writes) {
    if (!status.ok() || operand.role != Role::kRunningStatistic ||
        !signature.statistics[static_cast<size_t>(operand.index)].is_constant) {
      continue;
    }
    status = absl::InvalidArgumentError(
        absl::StrCat(step, " writes ", DescribeOperand(operand),
                     ", which the signature says is constant"));
  }
  // A later step finds only those saved tensors that the forward step writes.
  for (const Operand& operand : use.reads) {
    if (!status.ok() || operand.role != Role::kSaved ||
        &use == &signature.forward || Has(signature.forward.writes, operand)) {
      continue;
    }
    status = absl::InvalidArgumentError(
        absl::StrCat(step, " reads ", DescribeOperand(operand),
                     ", which the forward step does not "
                     "write: declare it in signature.forward.writes"));
  }
  return status;
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

int64_t StepData::FirstElement(Role role, int index) const {
  const Shape& operand = shape(role, index);
  // A scalar has one element for each micro-batch.
  if (operand.rank() == 0) return place_.micro_batch;
  const int64_t rows = place_.rows == 0 ? operand.extent(0) : place_.rows;
  return (place_.micro_batch * rows + place_.first_row) *
         (operand.elements() / operand.extent(0));
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

void Layer::CalculateGradient(const StepData& data) const {
  EndForMissing(data, "CalculateGradient");
}
void Layer::CalculateDerivative(const StepData& data) const {
  EndForMissing(data, "CalculateDerivative");
}
absl::Status Layer::Recompute(const StepData& data) const {
  return Forward(data);
}
void Layer::RestoreInput(const StepData& data) const {
  EndForMissing(data, "RestoreInput");
}
absl::Status Layer::ForwardTile(const StepData& data, const MatrixTile&) const {
  EndForMissing(data, "ForwardTile");
}
void Layer::CalculateDerivativeTile(const StepData& data,
                                    const MatrixTile&) const {
  EndForMissing(data, "CalculateDerivativeTile");
}
void Layer::CalculateGradientTile(const StepData& data,
                                  const MatrixTile&) const {
  EndForMissing(data, "CalculateGradientTile");
}

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

// Checks that a layer of LayerSignature::picks_rows can do nothing else.
absl::Status CheckPickedRows(const LayerSignature& signature,
                             const LayerInputs& inputs) {
  const bool picks =
      inputs.inputs.size() == 1 && inputs.inputs[0].type == DType::kI32 &&
      signature.weights.size() == 1 && signature.statistics.empty() &&
      signature.weights[0].spec.type == DType::kF32 &&
      signature.weights[0].spec.shape.rank() == 2 &&
      signature.output.type == DType::kF32 &&
      signature.output.shape.rank() > 1 &&
      signature.output.shape.columns() ==
          signature.weights[0].spec.shape.columns() &&
      signature.output.shape.rows() == inputs.inputs[0].shape.elements() &&
      signature.saved.empty() && signature.workspaces.empty();
  if (picks) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "a layer that picks rows has one input of indices, one weight, which is "
      "a matrix, and a row of output for each index: change them, or leave "
      "signature.picks_rows false");
}

// Returns the operand, or none if Forward reads no weight and no statistic.
absl::optional<Operand> FindMatrixOrNone(const LayerSignature& signature) {
  for (const Operand& operand : signature.forward.reads) {
    if (operand.role == Role::kWeight ||
        operand.role == Role::kRunningStatistic) {
      return operand;
    }
  }
  return absl::nullopt;
}

Operand FindMatrix(const LayerSignature& signature) {
  return *FindMatrixOrNone(signature);
}

// Checks that a layer of LayerSignature::multiplies_by_matrix can have tiles of
// the matrix.
absl::Status CheckMatrix(const LayerSignature& signature) {
  const absl::optional<Operand> matrix = FindMatrixOrNone(signature);
  if (matrix.has_value()) {
    const auto& specs = matrix->role == Role::kWeight ? signature.weights
                                                      : signature.statistics;
    const TensorType& spec = specs[static_cast<size_t>(matrix->index)].spec;
    if (spec.type == DType::kF32 && spec.shape.rank() == 2 &&
        signature.output.shape.rank() > 1 &&
        spec.shape.columns() == signature.output.shape.extent(-1)) {
      return absl::OkStatus();
    }
  }
  return absl::InvalidArgumentError(
      "a layer that multiplies by a matrix must read it in the forward step "
      "before any other weight or statistic, and its columns must be those of "
      "the output: change that, or leave signature.multiplies_by_matrix false");
}

absl::Status CheckOperands(const LayerSignature& signature,
                           const LayerInputs& inputs) {
  // Only a loss is a single value.
  if (signature.output.shape.rank() == 0 && !signature.label.has_value()) {
    return absl::InvalidArgumentError(
        "its output has no extents: the first must be the batch");
  }
  absl::Status status =
      CheckUse("the forward step", signature.forward, signature, inputs);
  if (!status.ok()) return status;
  const Operand output = {Role::kOutput};
  if (!Has(signature.forward.writes, output)) {
    return absl::InvalidArgumentError(
        "the forward step does not write the output: declare it in "
        "signature.forward.writes");
  }
  if (signature.picks_rows) status = CheckPickedRows(signature, inputs);
  if (status.ok() && signature.multiplies_by_matrix) {
    status = CheckMatrix(signature);
  }
  if (!status.ok()) return status;
  // Inference runs only the forward step.
  if (inputs.mode != NetworkMode::kTraining) return absl::OkStatus();
  const std::pair<const char*, decltype(&signature.gradient)> uses[] = {
      {"the gradient step", &signature.gradient},
      {"the derivative step", &signature.derivative},
      {"the recompute step", &signature.recompute},
      {"the step that restores the input", &signature.restore_input}};
  for (const auto& [step, use] : uses) {
    if (status.ok()) status = CheckUse(step, *use, signature, inputs);
  }
  if (!status.ok()) return status;
  if (!signature.recompute.reads.empty() &&
      !Has(signature.recompute.writes, output)) {
    return absl::InvalidArgumentError(
        "the recompute step does not write the output: declare it in "
        "signature.recompute.writes");
  }
  // Every weight that is trained needs its gradient.
  if (inputs.frozen) return absl::OkStatus();
  for (size_t i = 0; i < signature.weights.size(); ++i) {
    const Operand gradient = {Role::kGradient, static_cast<int>(i)};
    if (Has(signature.gradient.writes, gradient)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "the gradient step does not write the gradient of weight \"",
        signature.weights[i].name,
        "\": declare it in signature.gradient.writes, or keep what is not to "
        "be trained as a statistic"));
  }
  return absl::OkStatus();
}

absl::Status RefuseRow(int32_t row, int64_t place, int64_t rows) {
  return absl::OutOfRangeError(
      absl::StrCat("the value ", row, " at index ", place,
                   " is not an index of the table's ", rows, " entries"));
}

void AddWorkspace(int64_t size_bytes, LayerSignature* signature, StepUse* use) {
  if (size_bytes == 0) return;
  use->writes.push_back(
      {Role::kWorkspace, static_cast<int>(signature->workspaces.size())});
  signature->workspaces.push_back({{size_bytes}, DType::kU8});
}

}  // namespace footprint
