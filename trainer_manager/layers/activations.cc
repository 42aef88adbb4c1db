#include "footprint/trainer_manager/layers/activations.h"

#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"
#include "footprint/base/random/random_sequence.h"
#include "footprint/trainer_manager/math/array_functions.h"

namespace footprint {
namespace {

// NaN stays NaN.
void ComputeRelu(const float* values, int64_t count, float* results) {
  for (int64_t i = 0; i < count; ++i) {
    results[i] = values[i] < 0 ? 0 : values[i];
  }
}

// Each function has a name, the tensor that it keeps (input or output), its
// values, and a function that multiplies by its slopes at the kept values.
struct ReluFunction {
  static constexpr const char* kName = "ReLU";
  static constexpr Role kKept = Role::kOutput;
  static constexpr auto* kValues = &ComputeRelu;
  static constexpr auto* kTimesSlopes = &TimesReluSlope;
};

struct SigmoidFunction {
  static constexpr const char* kName = "sigmoid";
  static constexpr Role kKept = Role::kOutput;
  static constexpr auto* kValues = &ComputeSigmoid;
  static constexpr auto* kTimesSlopes = &TimesSigmoidSlope;
};

struct TanhFunction {
  static constexpr const char* kName = "tanh";
  static constexpr Role kKept = Role::kOutput;
  static constexpr auto* kValues = &ComputeTanh;
  static constexpr auto* kTimesSlopes = &TimesTanhSlope;
};

struct GeluFunction {
  static constexpr const char* kName = "GELU";
  static constexpr Role kKept = Role::kInput;
  static constexpr auto* kValues = &ComputeGelu;
  static constexpr auto* kTimesSlopes = &TimesGeluSlope;
};

struct SiluFunction {
  static constexpr const char* kName = "SiLU";
  static constexpr Role kKept = Role::kInput;
  static constexpr auto* kValues = &ComputeSilu;
  static constexpr auto* kTimesSlopes = &TimesSiluSlope;
};

// Returns the signature of a layer whose output has the shape of its input and
// may overwrite it.
LayerSignature ElementwiseSignature(const TensorType& spec) {
  LayerSignature signature;
  signature.output = spec;
  signature.forward.reads = {{Role::kInput}};
  signature.forward.writes = {{Role::kOutput}};
  signature.forward.in_place = {{{Role::kOutput}, {Role::kInput}}};
  signature.derivative.reads = {{Role::kOutputDerivative}};
  signature.derivative.writes = {{Role::kInputDerivative}};
  signature.derivative.in_place = {
      {{Role::kInputDerivative}, {Role::kOutputDerivative}}};
  signature.recompute = signature.forward;
  return signature;
}

template <typename Function>
class ElementwiseLayer final : public Layer {
 public:
  absl::string_view type() const override { return Function::kName; }

  absl::StatusOr<LayerSignature> Describe(
      const LayerInputs& inputs) const override {
    const absl::Status status = CheckOneFloatInput(inputs, 1, kMaxRank);
    if (!status.ok()) return status;
    LayerSignature signature = ElementwiseSignature(inputs.inputs[0]);
    signature.derivative.reads.push_back({Function::kKept});
    signature.derivative_by_element = true;
    signature.derivative.in_place.push_back(
        {{Role::kInputDerivative}, {Function::kKept}});
    return signature;
  }

  absl::Status Forward(const StepData& data) const override {
    const float* input = data.Read(Role::kInput);
    float* output = data.Write(Role::kOutput);
    data.math().ForEachBand(
        data.elements(Role::kInput), 1, [=](const Band& band) {
          Function::kValues(input + band.begin, band.end - band.begin,
                            output + band.begin);
        });
    return absl::OkStatus();
  }

  void CalculateDerivative(const StepData& data) const override {
    const float* factors = data.Read(Role::kOutputDerivative);
    const float* kept = data.Read(Function::kKept);
    float* result = data.Write(Role::kInputDerivative);
    data.math().ForEachBand(
        data.elements(Role::kInputDerivative), 1, [=](const Band& band) {
          Function::kTimesSlopes(factors + band.begin, kept + band.begin,
                                 band.end - band.begin, result + band.begin);
        });
  }
};

class DropoutLayer final : public Layer {
 public:
  explicit DropoutLayer(float rate) : rate_(rate) {}

  absl::string_view type() const override { return "dropout"; }

  absl::StatusOr<LayerSignature> Describe(
      const LayerInputs& inputs) const override {
    const absl::Status status = CheckOneFloatInput(inputs, 1, kMaxRank);
    if (!status.ok()) return status;
    if (!(rate_ >= 0.0f && rate_ < 1.0f)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "a rate of ", rate_, "; at least 0 and below 1 is needed"));
    }
    LayerSignature signature = ElementwiseSignature(inputs.inputs[0]);
    if (inputs.mode == NetworkMode::kInference) {
      signature.forward.in_place[0].same_bytes = true;
    }
    return signature;
  }

  absl::Status Forward(const StepData& data) const override {
    const float* input = data.Read(Role::kInput);
    float* output = data.Write(Role::kOutput);
    const int64_t elements = data.elements(Role::kInput);
    if (data.mode() == NetworkMode::kTraining) {
      Drop(data, Role::kInput, input, output);
    } else if (input != output) {
      std::memcpy(output, input, static_cast<size_t>(elements) * sizeof(float));
    }
    return absl::OkStatus();
  }

  void CalculateDerivative(const StepData& data) const override {
    Drop(data, Role::kInputDerivative, data.Read(Role::kOutputDerivative),
         data.Write(Role::kInputDerivative));
  }

 private:
  // Drops elements of an operand with the role `role`. The mask follows from
  // the indices in the whole batch, so that a part of the batch has the same
  // mask as in the whole.
  void Drop(const StepData& data, Role role, const float* from,
            float* to) const {
    const uint64_t seed = data.seed();
    const int64_t first = data.FirstElement(role);
    const float scale = 1.0f / (1.0f - rate_);
    // 24 bits, so that the comparison in float is exact.
    const float threshold = rate_ * 16777216.0f;
    data.math().ForEachBand(data.elements(role), 1, [=](const Band& band) {
      for (int64_t i = band.begin; i < band.end; ++i) {
        const uint64_t place =
            RandomSequence(static_cast<uint64_t>(first + i)).Next();
        const uint64_t bits = RandomSequence(seed ^ place).Next();
        const float drawn = static_cast<float>(bits >> 40);
        to[i] = drawn < threshold ? 0.0f : from[i] * scale;
      }
    });
  }

  const float rate_;
};

}  // namespace

LayerPointer Relu() {
  return std::make_shared<ElementwiseLayer<ReluFunction>>();
}
LayerPointer Sigmoid() {
  return std::make_shared<ElementwiseLayer<SigmoidFunction>>();
}
LayerPointer Tanh() {
  return std::make_shared<ElementwiseLayer<TanhFunction>>();
}
LayerPointer Gelu() {
  return std::make_shared<ElementwiseLayer<GeluFunction>>();
}
LayerPointer Silu() {
  return std::make_shared<ElementwiseLayer<SiluFunction>>();
}
LayerPointer Dropout(float rate) {
  return std::make_shared<DropoutLayer>(rate);
}

}  // namespace footprint
