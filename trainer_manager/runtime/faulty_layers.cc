#include "footprint/trainer_manager/runtime/faulty_layers.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace footprint {
namespace {

int64_t Columns(const StepData& data) {
  return data.shape(Role::kWeight).elements();
}

class ScaleLayer : public Layer {
 public:
  absl::string_view type() const override { return "scale"; }

  absl::StatusOr<LayerSignature> Describe(
      const LayerInputs& inputs) const override {
    absl::Status status = CheckOneFloatInput(inputs, 2, 2);
    if (!status.ok()) return status;
    LayerSignature signature;
    signature.output = inputs.inputs[0];
    signature.weights = {
        {"factor", {{signature.output.shape.columns()}}, Initializer::kOnes}};
    signature.forward = {
        {{Role::kInput}, {Role::kWeight}}, {{Role::kOutput}}, {}};
    signature.recompute = signature.forward;
    signature.gradient = {
        {{Role::kInput}, {Role::kWeight}, {Role::kOutputDerivative}},
        {{Role::kGradient}},
        {}};
    signature.derivative = {{{Role::kWeight}, {Role::kOutputDerivative}},
                            {{Role::kInputDerivative}},
                            {}};
    return signature;
  }

  absl::Status Forward(const StepData& data) const override {
    Scale(data, data.Read(Role::kInput), data.elements(Role::kInput),
          data.Write(Role::kOutput));
    return absl::OkStatus();
  }

  void CalculateGradient(const StepData& data) const override {
    float* const gradient = data.Write(Role::kGradient);
    std::fill_n(gradient, Columns(data), 0.0f);
    AddGradient(data, data.Read(Role::kInput), gradient);
  }

  void CalculateDerivative(const StepData& data) const override {
    Scale(data, data.Read(Role::kOutputDerivative),
          data.elements(Role::kOutputDerivative),
          data.Write(Role::kInputDerivative));
  }

 protected:
  // Multiplies `elements` values by their columns' factors.
  static void Scale(const StepData& data, const float* values, int64_t elements,
                    float* scaled) {
    const float* const factors = data.Read(Role::kWeight);
    const int64_t columns = Columns(data);
    for (int64_t e = 0; e < elements; ++e) {
      scaled[e] = factors[e % columns] * values[e];
    }
  }

  static void AddGradient(const StepData& data, const float* input,
                          float* gradient) {
    const float* const derivative = data.Read(Role::kOutputDerivative);
    const int64_t columns = Columns(data);
    for (int64_t e = 0; e < data.elements(Role::kOutputDerivative); ++e) {
      gradient[e % columns] += derivative[e] * input[e];
    }
  }
};

class DoubleMean final : public ScaleLayer {
 public:
  void CalculateGradient(const StepData& data) const override {
    ScaleLayer::CalculateGradient(data);
    const auto rows = static_cast<float>(data.shape(Role::kInput).rows());
    float* const gradient = data.Write(Role::kGradient);
    for (int64_t c = 0; c < Columns(data); ++c) gradient[c] /= rows;
  }
};

class WrongColumn final : public ScaleLayer {
 public:
  void CalculateDerivative(const StepData& data) const override {
    ScaleLayer::CalculateDerivative(data);
    const int64_t columns = Columns(data);
    if (columns < 2) return;
    float* const written = data.Write(Role::kInputDerivative);
    for (int64_t e = columns - 1; e < data.elements(Role::kOutputDerivative);
         e += columns) {
      written[e] = written[e - 1];
    }
  }
};

class UndeclaredRead final : public ScaleLayer {
 public:
  void CalculateDerivative(const StepData& data) const override {
    // A factor of 0 would lose the derivative.
    if (data.Read(Role::kOutput)[0] == 0.0f) return;
    ScaleLayer::CalculateDerivative(data);
  }
};

class InputWriting final : public ScaleLayer {
 public:
  absl::Status Forward(const StepData& data) const override {
    auto* const input = const_cast<float*>(data.Read(Role::kInput));
    const int64_t elements = data.elements(Role::kInput);
    Scale(data, input, elements, input);
    std::copy_n(input, elements, data.Write(Role::kOutput));
    return absl::OkStatus();
  }
};

class UnfinishedOutput final : public ScaleLayer {
 public:
  absl::Status Forward(const StepData& data) const override {
    Scale(data, data.Read(Role::kInput),
          data.elements(Role::kInput) - Columns(data),
          data.Write(Role::kOutput));
    return absl::OkStatus();
  }
};

class OtherRecompute final : public ScaleLayer {
 public:
  absl::Status Recompute(const StepData& data) const override {
    const float* const factors = data.Read(Role::kWeight);
    const float* const input = data.Read(Role::kInput);
    float* const output = data.Write(Role::kOutput);
    const int64_t columns = Columns(data);
    for (int64_t e = 0; e < data.elements(Role::kInput); ++e) {
      output[e] = input[e] / (1.0f / factors[e % columns]);
    }
    return absl::OkStatus();
  }
};

class Accumulating final : public ScaleLayer {
 public:
  void CalculateGradient(const StepData& data) const override {
    AddGradient(data, data.Read(Role::kInput), data.Write(Role::kGradient));
  }
};

class StalePointer final : public ScaleLayer {
 public:
  absl::StatusOr<LayerSignature> Describe(
      const LayerInputs& inputs) const override {
    auto signature = ScaleLayer::Describe(inputs);
    if (!signature.ok()) return signature;
    signature->gradient.reads = {{Role::kWeight}, {Role::kOutputDerivative}};
    signature->recompute = {};
    return signature;
  }
  absl::Status Forward(const StepData& data) const override {
    input_ = data.Read(Role::kInput);
    return ScaleLayer::Forward(data);
  }
  void CalculateGradient(const StepData& data) const override {
    float* const gradient = data.Write(Role::kGradient);
    std::fill_n(gradient, Columns(data), 0.0f);
    AddGradient(data, input_, gradient);
  }

 private:
  mutable const float* input_ = nullptr;
};

class Overrunning final : public ScaleLayer {
 public:
  absl::Status Forward(const StepData& data) const override {
    const float* const factors = data.Read(Role::kWeight);
    const float* const input = data.Read(Role::kInput);
    float* const output = data.Write(Role::kOutput);
    const int64_t elements = data.elements(Role::kInput);
    const int64_t columns = Columns(data);
    // Less than or equal, where less than is right. The input is not read
    // there, so that only the write is wrong.
    for (int64_t e = 0; e <= elements; ++e) {
      output[e] = factors[e % columns] * input[std::min(e, elements - 1)];
    }
    return absl::OkStatus();
  }
};

class SquareRoot final : public ScaleLayer {
 public:
  absl::Status Forward(const StepData& data) const override {
    const absl::Status status = ScaleLayer::Forward(data);
    float* const output = data.Write(Role::kOutput);
    for (int64_t e = 0; e < data.elements(Role::kOutput); ++e) {
      output[e] = std::sqrt(output[e]);
    }
    return status;
  }
};

class DirtyWorkspace final : public ScaleLayer {
 public:
  absl::StatusOr<LayerSignature> Describe(
      const LayerInputs& inputs) const override {
    auto signature = ScaleLayer::Describe(inputs);
    if (!signature.ok()) return signature;
    const int64_t columns = signature->output.shape.columns();
    AddWorkspace(columns * static_cast<int64_t>(sizeof(float)), &*signature,
                 &signature->gradient);
    return signature;
  }
  void CalculateGradient(const StepData& data) const override {
    auto* const sums = static_cast<float*>(data.Workspace());
    AddGradient(data, data.Read(Role::kInput), sums);
    std::copy_n(sums, Columns(data), data.Write(Role::kGradient));
  }
};

class WrongShapes final : public ScaleLayer {
 public:
  explicit WrongShapes(WrongShape shape) : shape_(shape) {}

  absl::StatusOr<LayerSignature> Describe(
      const LayerInputs& inputs) const override {
    auto signature = ScaleLayer::Describe(inputs);
    if (!signature.ok()) return signature;
    Shape& output = signature->output.shape;
    const int64_t rows = output.extent(0);
    switch (shape_) {
      case WrongShape::kNoExtents:
        output = {};
        break;
      case WrongShape::kTooManyExtents:
        output = {rows, 1, 1, 1, 1, output.columns()};
        break;
      case WrongShape::kZeroExtent:
        output.set_extent(-1, 0);
        break;
      case WrongShape::kOverflow:
        output.set_extent(-1, std::numeric_limits<int64_t>::max() / 2);
        break;
      case WrongShape::kOneRowLess:
        output.set_extent(0, rows - 1);
        break;
      case WrongShape::kHugeWorkspace:
        AddWorkspace(int64_t{1} << 60, &*signature, &signature->forward);
        signature->recompute = {};
        break;
    }
    return signature;
  }

 private:
  const WrongShape shape_;
};

class Dividing final : public Optimizer {
 public:
  explicit Dividing(bool claims_to_foresee)
      : claims_to_foresee_(claims_to_foresee) {}

  absl::string_view name() const override { return "dividing"; }
  int states_per_weight() const override { return 0; }
  bool is_elementwise() const override { return true; }
  bool foresees_values() const override { return claims_to_foresee_; }
  void Apply(int64_t, int64_t elements, const float* gradient, float* weight,
             absl::Span<float* const>) const override {
    for (int64_t e = 0; e < elements; ++e) {
      weight[e] -= 0.01f * gradient[e] / std::fabs(gradient[e]);
    }
  }

 private:
  const bool claims_to_foresee_;
};

class ChangingStates final : public Optimizer {
 public:
  absl::string_view name() const override { return "changing states"; }
  // The first Apply finds out that a second state would be useful.
  int states_per_weight() const override { return used_ ? 2 : 1; }
  void Apply(int64_t, int64_t elements, const float* gradient, float* weight,
             absl::Span<float* const> states) const override {
    used_ = true;
    for (int64_t e = 0; e < elements; ++e) {
      for (float* const state : states) {
        state[e] = 0.9f * state[e] + gradient[e];
      }
      weight[e] -= 0.01f * states.front()[e];
    }
  }

 private:
  mutable bool used_ = false;
};

class NormDividing final : public Optimizer {
 public:
  absl::string_view name() const override { return "norm"; }
  int states_per_weight() const override { return 0; }
  bool is_elementwise() const override { return true; }
  void Apply(int64_t, int64_t elements, const float* gradient, float* weight,
             absl::Span<float* const>) const override {
    double squares = 1e-12;
    for (int64_t e = 0; e < elements; ++e) {
      squares += static_cast<double>(gradient[e]) * gradient[e];
    }
    const auto rate = static_cast<float>(0.01 / std::sqrt(squares));
    for (int64_t e = 0; e < elements; ++e) weight[e] -= rate * gradient[e];
  }
};

}  // namespace

LayerPointer RightLayer() { return std::make_shared<ScaleLayer>(); }
LayerPointer DoubleMeanLayer() { return std::make_shared<DoubleMean>(); }
LayerPointer WrongColumnLayer() { return std::make_shared<WrongColumn>(); }
LayerPointer UndeclaredReadLayer() {
  return std::make_shared<UndeclaredRead>();
}
LayerPointer InputWritingLayer() { return std::make_shared<InputWriting>(); }
LayerPointer UnfinishedOutputLayer() {
  return std::make_shared<UnfinishedOutput>();
}
LayerPointer OtherRecomputeLayer() {
  return std::make_shared<OtherRecompute>();
}
LayerPointer AccumulatingLayer() { return std::make_shared<Accumulating>(); }
LayerPointer StalePointerLayer() { return std::make_shared<StalePointer>(); }
LayerPointer OverrunningLayer() { return std::make_shared<Overrunning>(); }
LayerPointer SquareRootLayer() { return std::make_shared<SquareRoot>(); }
LayerPointer DirtyWorkspaceLayer() {
  return std::make_shared<DirtyWorkspace>();
}
LayerPointer WrongShapeLayer(WrongShape shape) {
  return std::make_shared<WrongShapes>(shape);
}

OptimizerPointer DividingOptimizer(bool claims_to_foresee) {
  return std::make_shared<Dividing>(claims_to_foresee);
}
OptimizerPointer ChangingStatesOptimizer() {
  return std::make_shared<ChangingStates>();
}
OptimizerPointer NormOptimizer() { return std::make_shared<NormDividing>(); }

}  // namespace footprint
