#include "footprint/trainer_manager/layers/layer_harness.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <limits>

namespace footprint {
namespace {

constexpr double kStep = 1e-2;

enum Phase {
  kForwardPhase,
  kGradientPhase,
  kDerivativePhase,
  kRecomputePhase,
  kRestorePhase
};

}  // namespace

absl::Status Refusal(const LayerPointer& layer,
                     std::vector<TensorType> inputs) {
  return layer->Describe({inputs, NetworkMode::kTraining, ReferenceMath()})
      .status();
}

LayerHarness::LayerHarness(LayerPointer layer, std::vector<TensorType> inputs,
                           NetworkMode mode, uint64_t seed, int32_t indices,
                           bool frozen, const MathBackend& math)
    : layer_(std::move(layer)),
      mode_(mode),
      random_(seed),
      indices_(indices),
      math_(math) {
  const auto signature =
      layer_->Describe({inputs, mode, math_, /*pack_winners=*/true, frozen});
  if (!signature.ok()) {
    std::cerr << signature.status() << "\n";
    std::abort();
  }
  signature_ = *signature;
  const auto add_all = [this](Role role, const auto& list, bool random) {
    for (size_t i = 0; i < list.size(); ++i) {
      Add(role, static_cast<int>(i), list[i], random);
    }
  };
  add_all(Role::kInput, inputs, true);
  add_all(Role::kInputDerivative, inputs, false);
  for (size_t i = 0; i < signature_.weights.size(); ++i) {
    Add(Role::kWeight, static_cast<int>(i), signature_.weights[i].spec, true);
    Add(Role::kGradient, static_cast<int>(i), signature_.weights[i].spec,
        false);
  }
  for (size_t i = 0; i < signature_.statistics.size(); ++i) {
    Add(Role::kRunningStatistic, static_cast<int>(i),
        signature_.statistics[i].spec, true);
    for (float& v : Values(Role::kRunningStatistic, static_cast<int>(i)))
      v += 2;
  }
  add_all(Role::kSaved, signature_.saved, false);
  add_all(Role::kWorkspace, signature_.workspaces, false);
  Add(Role::kOutput, 0, signature_.output, false);
  Add(Role::kOutputDerivative, 0, signature_.output, true);
  if (signature_.label.has_value()) {
    Add(Role::kLabel, 0, *signature_.label, true);
    Values(Role::kOutputDerivative)[0] = 1;
  }
}

void LayerHarness::Add(Role role, int index, const TensorType& spec,
                       bool random) {
  Tensor tensor;
  tensor.spec = spec;
  const size_t size = static_cast<size_t>(SizeBytes(spec) + 3) / 4;
  tensor.values.assign(size, std::numeric_limits<float>::quiet_NaN());
  for (float& value : tensor.values) {
    if (!random) break;
    value = random_.SignedUnit();
    if (spec.type == DType::kI32) {
      const int32_t drawn = static_cast<int32_t>((value + 1) * 1000) % indices_;
      std::memcpy(&value, &drawn, sizeof(drawn));
    }
  }
  tensors_[{role, index}] = std::move(tensor);
}

std::vector<float>& LayerHarness::Values(Role role, int index) {
  return tensors_.at({role, index}).values;
}

void LayerHarness::SetIndices(Role role, std::vector<int32_t> indices) {
  std::vector<float>& values = Values(role);
  std::memcpy(values.data(), indices.data(),
              std::min(values.size(), indices.size()) * sizeof(float));
}

std::vector<StepData::Slot> LayerHarness::FindSlots(const StepUse& use) {
  std::vector<StepData::Slot> slots;
  const auto add = [&](const Operand& operand, bool read) {
    Tensor& tensor = tensors_.at({operand.role, operand.index});
    for (StepData::Slot& slot : slots) {
      if (!(slot.operand == operand)) continue;
      slot.readable |= read;
      slot.writable |= !read;
      return;
    }
    slots.push_back({operand, read, !read, &tensor.spec, tensor.values.data()});
  };
  for (const Operand& operand : use.reads) add(operand, true);
  for (const Operand& operand : use.writes) add(operand, false);
  return slots;
}

void LayerHarness::Run(const StepUse& use, int phase) {
  const std::vector<StepData::Slot> slots = FindSlots(use);
  const StepData data(slots, mode_, /*seed=*/77, math_);
  if (phase == kForwardPhase) status_ = layer_->Forward(data);
  if (phase == kGradientPhase) layer_->CalculateGradient(data);
  if (phase == kDerivativePhase) layer_->CalculateDerivative(data);
  if (phase == kRecomputePhase) status_ = layer_->Recompute(data);
  if (phase == kRestorePhase) layer_->RestoreInput(data);
}

// Runs each tile with a copy of its columns, beside which lies nothing.
void LayerHarness::RunTiles(const StepUse& use, int phase, int64_t columns) {
  const Operand operand = FindMatrix(signature_);
  const Tensor& matrix = tensors_.at({operand.role, operand.index});
  const int64_t rows = matrix.spec.shape.rows();
  const int64_t all_columns = matrix.spec.shape.columns();
  const TensorType spec = {{rows, std::min(columns, all_columns)}};
  for (int64_t begin = 0; begin < all_columns; begin += columns) {
    const MatrixTile tile = {begin, std::min(begin + columns, all_columns)};
    std::vector<float> values;
    for (int64_t row = 0; row < rows; ++row) {
      const auto from = matrix.values.begin() + row * all_columns;
      values.insert(values.end(), from + tile.begin, from + tile.end);
    }
    std::vector<StepData::Slot> slots = FindSlots(use);
    for (StepData::Slot& slot : slots) {
      if (!(slot.operand == operand)) continue;
      slot.spec = &spec;
      slot.data = values.data();
    }
    const StepData data(slots, mode_, /*seed=*/77, math_);
    if (phase == kForwardPhase) status_ = layer_->ForwardTile(data, tile);
    if (phase == kDerivativePhase) layer_->CalculateDerivativeTile(data, tile);
  }
}

// Each tile but the last has no other gradient.
void LayerHarness::GradientByTiles(int64_t rows) {
  Tensor& gradient = tensors_.at({Role::kGradient, 0});
  const int64_t all_rows = gradient.spec.shape.rows();
  const int64_t columns = gradient.spec.shape.columns();
  for (int64_t begin = 0; begin < all_rows; begin += rows) {
    const MatrixTile tile = {begin, std::min(begin + rows, all_rows)};
    const TensorType spec = {{tile.count(), columns}};
    std::vector<float> values(static_cast<size_t>(tile.count() * columns),
                              std::numeric_limits<float>::quiet_NaN());
    std::vector<StepData::Slot> slots;
    for (StepData::Slot slot : FindSlots(signature_.gradient)) {
      if (slot.operand.role == Role::kGradient && slot.operand.index == 0) {
        slot.spec = &spec;
        slot.data = values.data();
      } else if (slot.operand.role == Role::kGradient && tile.end < all_rows) {
        continue;
      }
      slots.push_back(slot);
    }
    layer_->CalculateGradientTile(StepData(slots, mode_, /*seed=*/77, math_),
                                  tile);
    std::copy(values.begin(), values.end(),
              gradient.values.begin() + begin * columns);
  }
}

absl::Status LayerHarness::ForwardByTiles(int64_t columns) {
  RunTiles(signature_.forward, kForwardPhase, columns);
  return status_;
}

void LayerHarness::DerivativeByTiles(int64_t columns) {
  RunTiles(signature_.derivative, kDerivativePhase, columns);
}

absl::Status LayerHarness::Forward() {
  Run(signature_.forward, kForwardPhase);
  return status_;
}

void LayerHarness::Backward() {
  // The layer need not implement steps that it does not declare.
  if (!signature_.gradient.writes.empty()) {
    Run(signature_.gradient, kGradientPhase);
  }
  if (!signature_.derivative.writes.empty()) {
    Run(signature_.derivative, kDerivativePhase);
  }
}

absl::Status LayerHarness::Recompute() {
  Run(signature_.recompute, kRecomputePhase);
  return status_;
}

void LayerHarness::RestoreInput() {
  Run(signature_.restore_input, kRestorePhase);
}

double LayerHarness::Objective() {
  Run(signature_.forward, kForwardPhase);
  const std::vector<float>& output = Values(Role::kOutput);
  const std::vector<float>& factors = Values(Role::kOutputDerivative);
  double sum = 0;
  for (size_t i = 0; i < output.size(); ++i) {
    sum += static_cast<double>(output[i]) * factors[i];
  }
  return sum;
}

double LayerHarness::WorstError(Role varied, Role calculated) {
  double worst = 0;
  double largest = 0;
  for (int t = 0; tensors_.count({varied, t}) > 0; ++t) {
    if (tensors_.at({varied, t}).spec.type != DType::kF32) continue;
    Run(signature_.forward, kForwardPhase);
    Backward();
    const std::vector<float> slopes = Values(calculated, t);
    std::vector<float>& values = Values(varied, t);
    for (size_t i = 0; i < values.size(); ++i) {
      const float value = values[i];
      values[i] = static_cast<float>(value + kStep);
      const double above = Objective();
      const double up = values[i];
      values[i] = static_cast<float>(value - kStep);
      const double below = Objective();
      const double difference = (above - below) / (up - values[i]);
      values[i] = value;
      largest = std::max(largest, std::abs(difference));
      const double error = std::abs(difference - slopes[i]);
      worst = std::isfinite(error) ? std::max(worst, error) : HUGE_VAL;
    }
  }
  // If all values are zero, nothing was compared.
  return largest > 0 ? worst / largest : HUGE_VAL;
}

double LayerHarness::WorstGradientError() {
  return WorstError(Role::kWeight, Role::kGradient);
}

double LayerHarness::WorstDerivativeError() {
  return WorstError(Role::kInput, Role::kInputDerivative);
}

}  // namespace footprint
