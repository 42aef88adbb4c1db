#include "footprint/trainer_manager/layers/rotary_positions.h"

#include <cmath>
#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"

namespace footprint {
namespace {

class RotaryPositionsLayer final : public Layer {
 public:
  explicit RotaryPositionsLayer(const RotaryOptions& options)
      : options_(options) {}

  absl::string_view type() const override { return "rotary positions"; }

  absl::StatusOr<LayerSignature> Describe(
      const LayerInputs& inputs) const override {
    absl::Status status = CheckOneFloatInput(inputs, 3, 3);
    if (status.ok()) status = CheckOptions(inputs.inputs[0].shape);
    if (!status.ok()) return status;
    LayerSignature signature;
    signature.output = inputs.inputs[0];
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

  absl::Status Forward(const StepData& data) const override {
    Turn(data.math(), data.shape(Role::kInput), 1, data.Read(Role::kInput),
         data.Write(Role::kOutput));
    return absl::OkStatus();
  }

  // A rotation's derivative is turned back by the same angle.
  void CalculateDerivative(const StepData& data) const override {
    Turn(data.math(), data.shape(Role::kOutputDerivative), -1,
         data.Read(Role::kOutputDerivative),
         data.Write(Role::kInputDerivative));
  }

 private:
  absl::Status CheckOptions(const Shape& input) const {
    if (options_.heads < 1 || options_.head_width < 1 ||
        options_.head_width % 2 != 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(options_.heads, " heads of width ", options_.head_width,
                       "; at least one head of an even width is needed"));
    }
    if (options_.heads > input.extent(2) / options_.head_width) {
      return absl::InvalidArgumentError(absl::StrCat(
          options_.heads, " heads of width ", options_.head_width,
          " do not fit into the last extent of ", input.ToString()));
    }
    if (options_.base >= 1 && std::isfinite(options_.base)) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(
        absl::StrCat("the base ", options_.base,
                     "; a finite number of at least 1 is needed"));
  }

  // Turns all pairs by their angles times `direction`. `from` and `to` may be
  // the same.
  void Turn(const MathBackend& math, const Shape& shape, double direction,
            const float* from, float* to) const {
    if (from != to) {
      std::memcpy(to, from,
                  static_cast<size_t>(shape.elements()) * sizeof(float));
    }
    math.ForEachBand(
        shape.extent(1), shape.extent(0) * shape.extent(2),
        [&](const Band& band) { TurnPositions(shape, direction, band, to); });
  }

  // Turns the pairs of a band of positions.
  void TurnPositions(const Shape& shape, double direction, const Band& band,
                     float* values) const {
    const int64_t positions = shape.extent(1);
    const int64_t features = shape.extent(2);
    const int64_t pairs = options_.head_width / 2;
    for (int64_t position = band.begin; position < band.end; ++position) {
      for (int64_t pair = 0; pair < pairs; ++pair) {
        const double angle =
            static_cast<double>(position) *
            std::pow(options_.base,
                     -static_cast<double>(pair) / static_cast<double>(pairs));
        const float cosine = static_cast<float>(std::cos(angle));
        const float sine = static_cast<float>(direction * std::sin(angle));
        for (int64_t row = 0; row < shape.extent(0); ++row) {
          TurnHeads(values + (row * positions + position) * features + pair,
                    cosine, sine);
        }
      }
    }
  }

  // Turns one pair of each head. `first` is the pair's first feature in the
  // first head.
  void TurnHeads(float* first, float cosine, float sine) const {
    for (int64_t head = 0; head < options_.heads; ++head) {
      float* const x = first + head * options_.head_width;
      float* const y = x + options_.head_width / 2;
      const float turned = *x * cosine - *y * sine;
      *y = *y * cosine + *x * sine;
      *x = turned;
    }
  }

  const RotaryOptions options_;
};

}  // namespace

LayerPointer RotaryPositions(const RotaryOptions& options) {
  return std::make_shared<RotaryPositionsLayer>(options);
}

}  // namespace footprint
