#include "footprint/trainer_manager/layers/fully_connected.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "footprint/trainer_manager/layers/matrix_products.h"
#include "footprint/trainer_manager/math/divided_loops.h"

namespace footprint {
namespace {

// The bias is part of the type, since a member for it would take 16 bytes of
// the heap.
template <bool kBias>
class FullyConnectedLayer final : public Layer {
 public:
  explicit FullyConnectedLayer(int64_t units) : units_(units) {}

  absl::string_view type() const override { return "fully connected"; }

  absl::StatusOr<LayerSignature> Describe(
      const LayerInputs& inputs) const override {
    absl::Status status = CheckOneFloatInput(inputs, 2, kMaxRank);
    if (!status.ok()) return status;
    if (units_ < 1) {
      return absl::InvalidArgumentError(
          absl::StrCat(units_, " units; at least 1 is needed"));
    }
    const Shape& input = inputs.inputs[0].shape;
    const int64_t features = input.extent(-1);
    const int64_t rows = input.elements() / features;
    LayerSignature signature;
    signature.output.shape = input;
    signature.output.shape.set_extent(input.rank() - 1, units_);
    signature.weights = {
        {"weight", {{features, units_}}, Initializer::kUniformByFan}};
    signature.forward.reads = {{Role::kInput}, {Role::kWeight, 0}};
    signature.forward.writes = {{Role::kOutput}};
    signature.gradient.reads = {{Role::kInput}, {Role::kOutputDerivative}};
    signature.gradient.writes = {{Role::kGradient, 0}};
    if constexpr (kBias) {
      signature.weights.push_back({"bias", {{units_}}, Initializer::kZeros});
      signature.forward.reads.push_back({Role::kWeight, 1});
      signature.gradient.writes.push_back({Role::kGradient, 1});
    }
    signature.derivative.reads = {{Role::kWeight, 0},
                                  {Role::kOutputDerivative}};
    signature.derivative.writes = {{Role::kInputDerivative}};
    signature.derivative_by_element = true;
    signature.multiplies_by_matrix = true;
    status = CheckSizes(signature);
    if (!status.ok()) return status;
    const MathBackend& math = inputs.math;
    const RowsByMatrix product = {rows, features, units_};
    AddWorkspace(math.WorkspaceBytes(product.Forward(product.AllColumns())),
                 &signature, &signature.forward);
    signature.recompute = signature.forward;
    signature.recompute_products =
        static_cast<double>(signature.output.shape.elements()) *
        static_cast<double>(features);
    AddWorkspace(math.WorkspaceBytes(product.Gradient(product.AllRows())),
                 &signature, &signature.gradient);
    AddWorkspace(math.WorkspaceBytes(product.Derivative(product.AllColumns())),
                 &signature, &signature.derivative);
    return signature;
  }

  absl::Status Forward(const StepData& data) const override {
    return ForwardTile(data, {0, units_});
  }

  absl::Status ForwardTile(const StepData& data,
                           const MatrixTile& tile) const override {
    const RowsByMatrix product = FindSizes(data, Role::kInput);
    float* output = data.Write(Role::kOutput);
    data.math().Multiply(product.Forward(tile), data.Read(Role::kInput),
                         data.Read(Role::kWeight, 0), output + tile.begin,
                         data.Workspace());
    if constexpr (kBias) {
      if (tile.end == units_) {
        AddToRows(data.math(), product.rows, units_,
                  data.Read(Role::kWeight, 1), output);
      }
    }
    return absl::OkStatus();
  }

  void CalculateGradient(const StepData& data) const override {
    CalculateGradientTile(data, FindSizes(data, Role::kInput).AllRows());
  }

  void CalculateGradientTile(const StepData& data,
                             const MatrixTile& rows) const override {
    const RowsByMatrix product = FindSizes(data, Role::kInput);
    const float* derivative = data.Read(Role::kOutputDerivative);
    data.math().Multiply(product.Gradient(rows),
                         data.Read(Role::kInput) + rows.begin, derivative,
                         data.Write(Role::kGradient, 0), data.Workspace());
    if constexpr (kBias) {
      if (!data.Has(Role::kGradient, 1)) return;
      SumRows(data.math(), product.rows, units_, derivative,
              data.Write(Role::kGradient, 1));
    }
  }

  void CalculateDerivative(const StepData& data) const override {
    CalculateDerivativeTile(data, {0, units_});
  }

  void CalculateDerivativeTile(const StepData& data,
                               const MatrixTile& tile) const override {
    const RowsByMatrix product = FindSizes(data, Role::kInputDerivative);
    data.math().Multiply(product.Derivative(tile),
                         data.Read(Role::kOutputDerivative) + tile.begin,
                         data.Read(Role::kWeight, 0),
                         data.Write(Role::kInputDerivative), data.Workspace());
  }

 private:
  // Returns the sizes of a step whose tensor, `role`, has the features.
  RowsByMatrix FindSizes(const StepData& data, Role role) const {
    const int64_t features = data.shape(role).extent(-1);
    return {data.elements(role) / features, features, units_};
  }

  const int64_t units_;
};

}  // namespace

LayerPointer FullyConnected(int64_t units, bool bias) {
  if (bias) return std::make_shared<FullyConnectedLayer<true>>(units);
  return std::make_shared<FullyConnectedLayer<false>>(units);
}

}  // namespace footprint
