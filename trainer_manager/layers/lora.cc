#include "footprint/trainer_manager/layers/lora.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "footprint/trainer_manager/layers/matrix_products.h"
#include "footprint/trainer_manager/math/divided_loops.h"

namespace footprint {
namespace {

// Rows whose scratch is needed at once.
constexpr int64_t kBlockRows = 64;
// The most features of a layer, so that sizes of workspaces do not overflow.
constexpr int64_t kMostFeatures = int64_t{1} << 40;

// One pair of matrices in a layer of so many features, and the products that
// `rows` rows need of it.
struct Branch {
  int64_t rank;
  int64_t features;
  int64_t outputs;
  int64_t first_output;
  float scale;

  // x A^T and (x A^T) B^T.
  MatrixProduct Down(int64_t rows) const {
    return {rows, rank, features, false, /*transpose_right=*/true};
  }
  MatrixProduct Up(int64_t rows) const {
    return {rows, outputs, rank, false, /*transpose_right=*/true};
  }
  // The derivative by x A^T, and what that adds to the derivative by x.
  MatrixProduct InnerDerivative(int64_t rows) const {
    return {rows, rank, outputs};
  }
  MatrixProduct InputDerivative(int64_t rows) const {
    return {rows, features, rank};
  }
  MatrixProduct GradientA(int64_t rows) const {
    return {rank, features, rows, /*transpose_left=*/true};
  }
  MatrixProduct GradientB(int64_t rows) const {
    return {outputs, rank, rows, /*transpose_left=*/true};
  }
};

enum class Phase { kForward, kGradient, kDerivative };

// The scratch memory of a step, for the largest of the branches.
struct Scratch {
  float* inner = nullptr;             // x A^T
  float* inner_derivative = nullptr;  // in the gradient and the derivative
  float* outputs = nullptr;           // of the branch, or their derivative
  float* features = nullptr;          // in the derivative
  float* partial = nullptr;           // in the gradient, of a block's rows
  void* products = nullptr;           // of the backend

  static int64_t InnerElements(const Branch& branch) {
    return kBlockRows * branch.rank;
  }
  static int64_t OutputElements(const Branch& branch) {
    return kBlockRows * branch.outputs;
  }
  static int64_t FeatureElements(const Branch& branch, Phase phase) {
    return phase == Phase::kDerivative ? kBlockRows * branch.features : 0;
  }
  static int64_t PartialElements(const Branch& branch, Phase phase) {
    return phase == Phase::kGradient
               ? branch.rank * std::max(branch.features, branch.outputs)
               : 0;
  }
  static int64_t Elements(const Branch& branch, Phase phase) {
    return 2 * InnerElements(branch) + OutputElements(branch) +
           FeatureElements(branch, phase) + PartialElements(branch, phase);
  }
  static int64_t ProductBytes(const MathBackend& math, const Branch& branch,
                              int64_t rows, Phase phase) {
    const auto bytes = [&math](const MatrixProduct& product) {
      return math.WorkspaceBytes(product);
    };
    switch (phase) {
      case Phase::kForward:
        return std::max(bytes(branch.Down(rows)), bytes(branch.Up(rows)));
      case Phase::kGradient:
        return std::max(
            {bytes(branch.Down(rows)), bytes(branch.InnerDerivative(rows)),
             bytes(branch.GradientA(rows)), bytes(branch.GradientB(rows))});
      case Phase::kDerivative:
        break;
    }
    return std::max(bytes(branch.InnerDerivative(rows)),
                    bytes(branch.InputDerivative(rows)));
  }

  Scratch(void* workspace, const Branch& branch, Phase phase) {
    inner = static_cast<float*>(workspace);
    inner_derivative = inner + InnerElements(branch);
    outputs = inner_derivative + InnerElements(branch);
    features = outputs + OutputElements(branch);
    partial = features + FeatureElements(branch, phase);
    products = partial + PartialElements(branch, phase);
  }
};

void AddScaled(const float* from, int64_t count, float scale, float* to) {
  for (int64_t i = 0; i < count; ++i) to[i] += scale * from[i];
}

class LoraLayer final : public Layer {
 public:
  LoraLayer(int64_t units, std::vector<LoraMatrices> matrices, bool bias)
      : units_(units), matrices_(std::move(matrices)), bias_(bias) {}

  absl::string_view type() const override { return "LoRA fully connected"; }

  absl::StatusOr<LayerSignature> Describe(
      const LayerInputs& inputs) const override;
  absl::Status Forward(const StepData& data) const override;
  absl::Status ForwardTile(const StepData& data,
                           const MatrixTile& tile) const override;
  void CalculateGradient(const StepData& data) const override;
  void CalculateDerivative(const StepData& data) const override;
  void CalculateDerivativeTile(const StepData& data,
                               const MatrixTile& tile) const override;

 private:
  absl::Status Check(int64_t features) const;
  absl::Status CheckMatrices(const LoraMatrices& matrices,
                             int64_t features) const;
  Branch MakeBranch(const LoraMatrices& matrices, int64_t features) const;
  int64_t WorkspaceBytes(const MathBackend& math, int64_t rows,
                         int64_t features, Phase phase) const;

  void AddBranch(const StepData& data, const Branch& branch, int index) const;
  void CalculateBranchGradient(const StepData& data, const Branch& branch,
                               int index) const;
  void AddBranchDerivative(const StepData& data, const Branch& branch,
                           int index) const;
  // Copies the derivative of a branch's outputs, of some rows, side by side.
  void CopyOutputDerivative(const StepData& data, const Branch& branch,
                            int64_t first_row, int64_t rows, float* to) const;

  const int64_t units_;
  const std::vector<LoraMatrices> matrices_;
  const bool bias_;
};

absl::Status LoraLayer::CheckMatrices(const LoraMatrices& matrices,
                                      int64_t features) const {
  const auto refuse = [](const auto&... words) {
    return absl::InvalidArgumentError(absl::StrCat(words...));
  };
  if (matrices.parts < 1 || units_ % matrices.parts != 0 || matrices.part < 0 ||
      matrices.part >= matrices.parts) {
    return refuse("LoRA on part ", matrices.part, " of ", matrices.parts,
                  " of ", units_,
                  " units; parts count from 0, and must divide "
                  "the units");
  }
  const int64_t most = std::min(features, units_ / matrices.parts);
  if (matrices.rank < 1 || matrices.rank > most) {
    return refuse("LoRA of rank ", matrices.rank, " on a matrix of ", features,
                  " x ", units_ / matrices.parts, "; a rank from 1 to ", most,
                  " is needed");
  }
  if (!std::isfinite(matrices.scale) || matrices.scale <= 0) {
    return refuse("LoRA with the scale ", matrices.scale,
                  "; a number above 0 is needed");
  }
  return absl::OkStatus();
}

absl::Status LoraLayer::Check(int64_t features) const {
  if (units_ < 1 || units_ > kMostFeatures || features > kMostFeatures) {
    return absl::InvalidArgumentError(
        absl::StrCat(units_, " units of ", features, " features; from 1 to ",
                     kMostFeatures, " can have LoRA"));
  }
  if (matrices_.empty()) {
    return absl::InvalidArgumentError(
        "LoRA without matrices; FullyConnected is the layer without");
  }
  for (const LoraMatrices& matrices : matrices_) {
    const absl::Status status = CheckMatrices(matrices, features);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

Branch LoraLayer::MakeBranch(const LoraMatrices& matrices,
                             int64_t features) const {
  const int64_t outputs = units_ / matrices.parts;
  return {matrices.rank, features, outputs, matrices.part * outputs,
          matrices.scale};
}

int64_t LoraLayer::WorkspaceBytes(const MathBackend& math, int64_t rows,
                                  int64_t features, Phase phase) const {
  const RowsByMatrix base = {rows, features, units_};
  int64_t bytes = 0;
  if (phase == Phase::kForward) {
    bytes = math.WorkspaceBytes(base.Forward(base.AllColumns()));
  } else if (phase == Phase::kDerivative) {
    bytes = math.WorkspaceBytes(base.Derivative(base.AllColumns()));
  }
  for (const LoraMatrices& matrices : matrices_) {
    const Branch branch = MakeBranch(matrices, features);
    bytes = std::max(
        bytes,
        Scratch::Elements(branch, phase) * static_cast<int64_t>(sizeof(float)) +
            Scratch::ProductBytes(math, branch, std::min(rows, kBlockRows),
                                  phase));
  }
  return bytes;
}

absl::StatusOr<LayerSignature> LoraLayer::Describe(
    const LayerInputs& inputs) const {
  absl::Status status = CheckOneFloatInput(inputs, 2, kMaxRank);
  if (!status.ok()) return status;
  const Shape& input = inputs.inputs[0].shape;
  const int64_t features = input.extent(-1);
  const int64_t rows = input.elements() / features;
  status = Check(features);
  if (!status.ok()) return status;
  LayerSignature signature;
  signature.output.shape = input;
  signature.output.shape.set_extent(input.rank() - 1, units_);
  // The frozen weight and bias are declared as statistics, which no optimizer
  // changes.
  signature.statistics = {{"weight",
                           {{features, units_}},
                           Initializer::kUniformByFan,
                           /*is_constant=*/true}};
  signature.forward.reads = {{Role::kInput}, {Role::kRunningStatistic, 0}};
  if (bias_) {
    signature.statistics.push_back(
        {"bias", {{units_}}, Initializer::kZeros, /*is_constant=*/true});
    signature.forward.reads.push_back({Role::kRunningStatistic, 1});
  }
  signature.gradient.reads = {{Role::kInput}, {Role::kOutputDerivative}};
  signature.derivative.reads = {{Role::kRunningStatistic, 0},
                                {Role::kOutputDerivative}};
  // Each adapter has two trained weights. B begins with zeros, so the layer
  // begins as without adapters.
  for (const LoraMatrices& matrices : matrices_) {
    const int index = static_cast<int>(signature.weights.size());
    signature.weights.push_back({LoraMatrixName(matrices, 'A'),
                                 {{matrices.rank, features}},
                                 Initializer::kUniformByColumns});
    signature.weights.push_back({LoraMatrixName(matrices, 'B'),
                                 {{units_ / matrices.parts, matrices.rank}},
                                 Initializer::kZeros});
    for (const int i : {index, index + 1}) {
      signature.forward.reads.push_back({Role::kWeight, i});
      signature.gradient.reads.push_back({Role::kWeight, i});
      signature.gradient.writes.push_back({Role::kGradient, i});
      signature.derivative.reads.push_back({Role::kWeight, i});
    }
  }
  signature.forward.writes = {{Role::kOutput}};
  signature.derivative.writes = {{Role::kInputDerivative}};
  signature.derivative_by_element = true;
  signature.multiplies_by_matrix = true;
  status = CheckSizes(signature);
  if (!status.ok()) return status;
  // Declares the workspace of each step.
  const auto add = [&](Phase phase, StepUse* use) {
    AddWorkspace(WorkspaceBytes(inputs.math, rows, features, phase), &signature,
                 use);
  };
  add(Phase::kForward, &signature.forward);
  signature.recompute = signature.forward;
  signature.recompute_products =
      static_cast<double>(signature.output.shape.elements()) *
      static_cast<double>(features);
  add(Phase::kGradient, &signature.gradient);
  add(Phase::kDerivative, &signature.derivative);
  return signature;
}

absl::Status LoraLayer::Forward(const StepData& data) const {
  return ForwardTile(data, {0, units_});
}

absl::Status LoraLayer::ForwardTile(const StepData& data,
                                    const MatrixTile& tile) const {
  const int64_t features = data.shape(Role::kInput).extent(-1);
  const RowsByMatrix base = {data.elements(Role::kInput) / features, features,
                             units_};
  float* output = data.Write(Role::kOutput);
  data.math().Multiply(base.Forward(tile), data.Read(Role::kInput),
                       data.Read(Role::kRunningStatistic, 0),
                       output + tile.begin, data.Workspace());
  if (tile.end < units_) return absl::OkStatus();
  if (bias_) {
    AddToRows(data.math(), base.rows, units_,
              data.Read(Role::kRunningStatistic, 1), output);
  }
  for (size_t i = 0; i < matrices_.size(); ++i) {
    AddBranch(data, MakeBranch(matrices_[i], features),
              2 * static_cast<int>(i));
  }
  return absl::OkStatus();
}

void LoraLayer::AddBranch(const StepData& data, const Branch& branch,
                          int index) const {
  const int64_t all_rows = data.elements(Role::kInput) / branch.features;
  const Scratch scratch(data.Workspace(), branch, Phase::kForward);
  const float* input = data.Read(Role::kInput);
  float* output = data.Write(Role::kOutput) + branch.first_output;
  for (int64_t first = 0; first < all_rows; first += kBlockRows) {
    const int64_t rows = std::min(kBlockRows, all_rows - first);
    data.math().Multiply(branch.Down(rows), input + first * branch.features,
                         data.Read(Role::kWeight, index), scratch.inner,
                         scratch.products);
    data.math().Multiply(branch.Up(rows), scratch.inner,
                         data.Read(Role::kWeight, index + 1), scratch.outputs,
                         scratch.products);
    for (int64_t r = 0; r < rows; ++r) {
      AddScaled(scratch.outputs + r * branch.outputs, branch.outputs,
                branch.scale, output + (first + r) * units_);
    }
  }
}

void LoraLayer::CopyOutputDerivative(const StepData& data, const Branch& branch,
                                     int64_t first_row, int64_t rows,
                                     float* to) const {
  const float* from = data.Read(Role::kOutputDerivative) + first_row * units_ +
                      branch.first_output;
  for (int64_t r = 0; r < rows; ++r) {
    std::copy(from + r * units_, from + r * units_ + branch.outputs,
              to + r * branch.outputs);
  }
}

void LoraLayer::CalculateGradient(const StepData& data) const {
  const int64_t features = data.shape(Role::kInput).extent(-1);
  for (size_t i = 0; i < matrices_.size(); ++i) {
    CalculateBranchGradient(data, MakeBranch(matrices_[i], features),
                            2 * static_cast<int>(i));
  }
}

void LoraLayer::CalculateBranchGradient(const StepData& data,
                                        const Branch& branch, int index) const {
  const int64_t all_rows = data.elements(Role::kInput) / branch.features;
  const Scratch scratch(data.Workspace(), branch, Phase::kGradient);
  const MathBackend& math = data.math();
  float* gradient_a = data.Write(Role::kGradient, index);
  float* gradient_b = data.Write(Role::kGradient, index + 1);
  const int64_t elements_a = branch.rank * branch.features;
  const int64_t elements_b = branch.outputs * branch.rank;
  std::fill(gradient_a, gradient_a + elements_a, 0.0f);
  std::fill(gradient_b, gradient_b + elements_b, 0.0f);
  for (int64_t first = 0; first < all_rows; first += kBlockRows) {
    const int64_t rows = std::min(kBlockRows, all_rows - first);
    const float* input = data.Read(Role::kInput) + first * branch.features;
    CopyOutputDerivative(data, branch, first, rows, scratch.outputs);
    math.Multiply(branch.Down(rows), input, data.Read(Role::kWeight, index),
                  scratch.inner, scratch.products);
    math.Multiply(branch.GradientB(rows), scratch.outputs, scratch.inner,
                  scratch.partial, scratch.products);
    AddScaled(scratch.partial, elements_b, branch.scale, gradient_b);
    math.Multiply(branch.InnerDerivative(rows), scratch.outputs,
                  data.Read(Role::kWeight, index + 1), scratch.inner_derivative,
                  scratch.products);
    math.Multiply(branch.GradientA(rows), scratch.inner_derivative, input,
                  scratch.partial, scratch.products);
    AddScaled(scratch.partial, elements_a, branch.scale, gradient_a);
  }
}

void LoraLayer::CalculateDerivative(const StepData& data) const {
  CalculateDerivativeTile(data, {0, units_});
}

void LoraLayer::CalculateDerivativeTile(const StepData& data,
                                        const MatrixTile& tile) const {
  const int64_t features = data.shape(Role::kInputDerivative).extent(-1);
  const RowsByMatrix base = {data.elements(Role::kInputDerivative) / features,
                             features, units_};
  data.math().Multiply(base.Derivative(tile),
                       data.Read(Role::kOutputDerivative) + tile.begin,
                       data.Read(Role::kRunningStatistic, 0),
                       data.Write(Role::kInputDerivative), data.Workspace());
  if (tile.end < units_) return;
  for (size_t i = 0; i < matrices_.size(); ++i) {
    AddBranchDerivative(data, MakeBranch(matrices_[i], features),
                        2 * static_cast<int>(i));
  }
}

void LoraLayer::AddBranchDerivative(const StepData& data, const Branch& branch,
                                    int index) const {
  const int64_t all_rows =
      data.elements(Role::kInputDerivative) / branch.features;
  const Scratch scratch(data.Workspace(), branch, Phase::kDerivative);
  float* derivative = data.Write(Role::kInputDerivative);
  for (int64_t first = 0; first < all_rows; first += kBlockRows) {
    const int64_t rows = std::min(kBlockRows, all_rows - first);
    CopyOutputDerivative(data, branch, first, rows, scratch.outputs);
    data.math().Multiply(branch.InnerDerivative(rows), scratch.outputs,
                         data.Read(Role::kWeight, index + 1),
                         scratch.inner_derivative, scratch.products);
    data.math().Multiply(branch.InputDerivative(rows), scratch.inner_derivative,
                         data.Read(Role::kWeight, index), scratch.features,
                         scratch.products);
    AddScaled(scratch.features, rows * branch.features, branch.scale,
              derivative + first * branch.features);
  }
}

}  // namespace

std::string LoraMatrixName(const LoraMatrices& matrices, char which) {
  const std::string name = absl::StrCat("lora_", std::string(1, which));
  if (matrices.parts == 1) return name;
  return absl::StrCat(matrices.part, "of", matrices.parts, ".", name);
}

LayerPointer LoraFullyConnected(int64_t units,
                                std::vector<LoraMatrices> matrices, bool bias) {
  return std::make_shared<LoraLayer>(units, std::move(matrices), bias);
}

}  // namespace footprint
