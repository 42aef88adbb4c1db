#include "footprint/trainer_manager/layers/structure_layers.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"
#include "footprint/trainer_manager/math/divided_loops.h"

namespace footprint {
namespace {

void CopyUnlessShared(int64_t elements, const float* from, float* to) {
  if (from == to) return;
  std::memcpy(to, from, static_cast<size_t>(elements) * sizeof(float));
}

class FlattenLayer final : public Layer {
 public:
  absl::string_view type() const override { return "flatten"; }

  absl::StatusOr<LayerSignature> Describe(
      const LayerInputs& inputs) const override {
    const absl::Status status = CheckOneFloatInput(inputs, 1, kMaxRank);
    if (!status.ok()) return status;
    const Shape& input = inputs.inputs[0].shape;
    LayerSignature signature;
    signature.output.shape = {input.extent(0),
                              input.elements() / input.extent(0)};
    signature.forward.reads = {{Role::kInput}};
    signature.forward.writes = {{Role::kOutput}};
    signature.forward.in_place = {{{Role::kOutput}, {Role::kInput}, true}};
    signature.recompute = signature.forward;
    signature.derivative.reads = {{Role::kOutputDerivative}};
    signature.derivative.writes = {{Role::kInputDerivative}};
    signature.derivative.in_place = {
        {{Role::kInputDerivative}, {Role::kOutputDerivative}, true}};
    return signature;
  }

  absl::Status Forward(const StepData& data) const override {
    CopyUnlessShared(data.elements(Role::kInput), data.Read(Role::kInput),
                     data.Write(Role::kOutput));
    return absl::OkStatus();
  }

  void CalculateDerivative(const StepData& data) const override {
    CopyUnlessShared(data.elements(Role::kInputDerivative),
                     data.Read(Role::kOutputDerivative),
                     data.Write(Role::kInputDerivative));
  }
};

// Checks that there are two inputs of floats and of one shape. `verb` says what
// is done with them, with its preposition.
absl::Status CheckTwoAlike(const LayerInputs& inputs, absl::string_view verb,
                           absl::string_view preposition) {
  absl::Status status = CheckInputCount(inputs, 2);
  for (size_t i = 0; i < 2 && status.ok(); ++i) {
    status = CheckInputType(inputs, i, DType::kF32);
  }
  if (!status.ok()) return status;
  if (inputs.inputs[0].shape == inputs.inputs[1].shape) return status;
  return absl::InvalidArgumentError(
      absl::StrCat("cannot ", verb, " ", inputs.inputs[1].shape.ToString(), " ",
                   preposition, " ", inputs.inputs[0].shape.ToString()));
}

class AddLayer final : public Layer {
 public:
  absl::string_view type() const override { return "add"; }

  absl::StatusOr<LayerSignature> Describe(
      const LayerInputs& inputs) const override {
    const absl::Status status = CheckTwoAlike(inputs, "add", "to");
    if (!status.ok()) return status;
    LayerSignature signature;
    signature.output = inputs.inputs[0];
    signature.forward.reads = {{Role::kInput, 0}, {Role::kInput, 1}};
    signature.forward.writes = {{Role::kOutput}};
    signature.derivative.reads = {{Role::kOutputDerivative}};
    for (int i = 0; i < 2; ++i) {
      signature.forward.in_place.push_back(
          {{Role::kOutput}, {Role::kInput, i}});
      signature.derivative.writes.push_back({Role::kInputDerivative, i});
      signature.derivative.in_place.push_back(
          {{Role::kInputDerivative, i}, {Role::kOutputDerivative}, true});
    }
    signature.recompute = signature.forward;
    return signature;
  }

  absl::Status Forward(const StepData& data) const override {
    AddArrays(data.math(), data.elements(Role::kOutput),
              data.Read(Role::kInput, 0), data.Read(Role::kInput, 1),
              data.Write(Role::kOutput));
    return absl::OkStatus();
  }

  void CalculateDerivative(const StepData& data) const override {
    for (int i = 0; i < 2; ++i) {
      if (!data.Has(Role::kInputDerivative, i)) continue;
      CopyUnlessShared(data.elements(Role::kOutputDerivative),
                       data.Read(Role::kOutputDerivative),
                       data.Write(Role::kInputDerivative, i));
    }
  }
};

class MultiplyLayer final : public Layer {
 public:
  absl::string_view type() const override { return "multiply"; }

  absl::StatusOr<LayerSignature> Describe(
      const LayerInputs& inputs) const override {
    const absl::Status status = CheckTwoAlike(inputs, "multiply", "by");
    if (!status.ok()) return status;
    LayerSignature signature;
    signature.output = inputs.inputs[0];
    signature.forward.reads = {{Role::kInput, 0}, {Role::kInput, 1}};
    signature.forward.writes = {{Role::kOutput}};
    signature.derivative.reads = {
        {Role::kInput, 0}, {Role::kInput, 1}, {Role::kOutputDerivative}};
    for (int i = 0; i < 2; ++i) {
      signature.forward.in_place.push_back(
          {{Role::kOutput}, {Role::kInput, i}});
      signature.derivative.writes.push_back({Role::kInputDerivative, i});
    }
    // The second input's derivative is calculated last, so it may overwrite
    // what both are calculated from.
    signature.derivative.in_place = {
        {{Role::kInputDerivative, 1}, {Role::kOutputDerivative}}};
    signature.recompute = signature.forward;
    return signature;
  }

  absl::Status Forward(const StepData& data) const override {
    MultiplyAll(data.math(), data.elements(Role::kOutput),
                data.Read(Role::kInput, 0), data.Read(Role::kInput, 1),
                data.Write(Role::kOutput));
    return absl::OkStatus();
  }

  void CalculateDerivative(const StepData& data) const override {
    for (int i = 0; i < 2; ++i) {
      if (!data.Has(Role::kInputDerivative, i)) continue;
      MultiplyAll(data.math(), data.elements(Role::kOutputDerivative),
                  data.Read(Role::kOutputDerivative),
                  data.Read(Role::kInput, 1 - i),
                  data.Write(Role::kInputDerivative, i));
    }
  }

 private:
  static void MultiplyAll(const MathBackend& math, int64_t elements,
                          const float* first, const float* second,
                          float* product) {
    math.ForEachBand(elements, 1, [=](const Band& band) {
      for (int64_t i = band.begin; i < band.end; ++i) {
        product[i] = first[i] * second[i];
      }
    });
  }
};

class ConcatenateLayer final : public Layer {
 public:
  explicit ConcatenateLayer(int axis) : axis_(axis) {}

  absl::string_view type() const override { return "concatenate"; }

  absl::StatusOr<LayerSignature> Describe(
      const LayerInputs& inputs) const override {
    absl::Status status = CheckInputCount(inputs, 2);
    for (size_t i = 0; i < 2 && status.ok(); ++i) {
      status = CheckInputType(inputs, i, DType::kF32);
    }
    if (status.ok()) status = CheckShapes(inputs);
    if (!status.ok()) return status;
    LayerSignature signature;
    signature.output = inputs.inputs[0];
    signature.output.shape.set_extent(axis_,
                                      inputs.inputs[0].shape.extent(axis_) +
                                          inputs.inputs[1].shape.extent(axis_));
    signature.forward.reads = {{Role::kInput, 0}, {Role::kInput, 1}};
    signature.forward.writes = {{Role::kOutput}};
    signature.derivative.reads = {{Role::kOutputDerivative}};
    signature.derivative.writes = {{Role::kInputDerivative, 0},
                                   {Role::kInputDerivative, 1}};
    signature.recompute = signature.forward;
    return signature;
  }

  absl::Status Forward(const StepData& data) const override {
    float* output = data.Write(Role::kOutput);
    for (int i = 0; i < 2; ++i) {
      const float* input = data.Read(Role::kInput, i);
      ForEachBlock(data, i, Role::kInput, Role::kOutput,
                   [&](int64_t part, int64_t whole, int64_t count) {
                     std::copy_n(input + part, count, output + whole);
                   });
    }
    return absl::OkStatus();
  }

  void CalculateDerivative(const StepData& data) const override {
    const float* whole_derivative = data.Read(Role::kOutputDerivative);
    for (int i = 0; i < 2; ++i) {
      if (!data.Has(Role::kInputDerivative, i)) continue;
      float* derivative = data.Write(Role::kInputDerivative, i);
      ForEachBlock(data, i, Role::kInputDerivative, Role::kOutputDerivative,
                   [&](int64_t part, int64_t whole, int64_t count) {
                     std::copy_n(whole_derivative + whole, count,
                                 derivative + part);
                   });
    }
  }

 private:
  absl::Status CheckShapes(const LayerInputs& inputs) const {
    const Shape& first = inputs.inputs[0].shape;
    const Shape& second = inputs.inputs[1].shape;
    bool fits =
        first.rank() == second.rank() && axis_ >= 1 && axis_ < first.rank();
    for (int axis = 0; axis < first.rank() && fits; ++axis) {
      fits = axis == axis_ || first.extent(axis) == second.extent(axis);
    }
    if (!fits) {
      return absl::InvalidArgumentError(
          absl::StrCat("cannot concatenate ", first.ToString(), " and ",
                       second.ToString(), " along axis ", axis_));
    }
    if (first.extent(axis_) <= INT64_MAX - second.extent(axis_)) {
      return absl::OkStatus();
    }
    return absl::OutOfRangeError(
        absl::StrCat("concatenated, ", first.ToString(), " and ",
                     second.ToString(), " have more than 2^63 - 1 elements"));
  }

  // Calls visit(offset in the part, offset in the whole, count) for each run of
  // values that is contiguous in both. The second part's place is counted from
  // the end of the whole, since a step may lack the first part.
  template <typename Visit>
  void ForEachBlock(const StepData& data, int part, Role part_role,
                    Role whole_role, const Visit& visit) const {
    const Shape& of_part = data.shape(part_role, part);
    const Shape& of_whole = data.shape(whole_role);
    int64_t blocks = 1;
    for (int axis = 0; axis < axis_; ++axis) blocks *= of_part.extent(axis);
    const int64_t part_size = of_part.elements() / blocks;
    const int64_t whole_size = of_whole.elements() / blocks;
    const int64_t first = part == 0 ? 0 : whole_size - part_size;
    for (int64_t b = 0; b < blocks; ++b) {
      visit(b * part_size, b * whole_size + first, part_size);
    }
  }

  const int axis_;
};

class EmbeddingLayer final : public Layer {
 public:
  EmbeddingLayer(int64_t entries, int64_t width)
      : entries_(entries), width_(width) {}

  absl::string_view type() const override { return "embedding"; }

  absl::StatusOr<LayerSignature> Describe(
      const LayerInputs& inputs) const override {
    absl::Status status = CheckInputCount(inputs, 1);
    if (status.ok()) status = CheckInputType(inputs, 0, DType::kI32);
    if (status.ok()) status = CheckInputRank(inputs, 0, 2, 2);
    if (!status.ok()) return status;
    if (entries_ < 1 || width_ < 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("a table of ", entries_, " entries of width ", width_,
                       "; both must be at least 1"));
    }
    const Shape& input = inputs.inputs[0].shape;
    LayerSignature signature;
    signature.output.shape = {input.extent(0), input.extent(1), width_};
    signature.weights = {
        {"weight", {{entries_, width_}}, Initializer::kNormal}};
    signature.forward.reads = {{Role::kInput}, {Role::kWeight}};
    signature.forward.writes = {{Role::kOutput}};
    signature.recompute = signature.forward;
    signature.picks_rows = true;
    signature.gradient.reads = {{Role::kInput}, {Role::kOutputDerivative}};
    signature.gradient.writes = {{Role::kGradient}};
    return signature;
  }

  absl::Status Forward(const StepData& data) const override {
    const int64_t positions = data.elements(Role::kInput);
    const int32_t* indices = data.Read<int32_t>(Role::kInput);
    const float* table = data.Read(Role::kWeight);
    float* output = data.Write(Role::kOutput);
    for (int64_t i = 0; i < positions; ++i) {
      if (indices[i] < 0 || indices[i] >= entries_) {
        return RefuseRow(indices[i], i, entries_);
      }
      const float* row = table + indices[i] * width_;
      std::copy(row, row + width_, output + i * width_);
    }
    return absl::OkStatus();
  }

  void CalculateGradient(const StepData& data) const override {
    const int64_t positions = data.elements(Role::kInput);
    const int32_t* indices = data.Read<int32_t>(Role::kInput);
    const float* derivative = data.Read(Role::kOutputDerivative);
    float* gradient = data.Write(Role::kGradient);
    const int64_t width = width_;
    const int64_t entries = entries_;
    // The bands are of columns, since several positions may have the same row.
    data.math().ForEachBand(width, entries + positions, [=](const Band& band) {
      for (int64_t row = 0; row < entries; ++row) {
        std::fill(gradient + row * width + band.begin,
                  gradient + row * width + band.end, 0.0f);
      }
      for (int64_t i = 0; i < positions; ++i) {
        float* row = gradient + indices[i] * width;
        for (int64_t c = band.begin; c < band.end; ++c) {
          row[c] += derivative[i * width + c];
        }
      }
    });
  }

 private:
  const int64_t entries_;
  const int64_t width_;
};

class PositionEmbeddingLayer final : public Layer {
 public:
  absl::string_view type() const override { return "position embedding"; }

  absl::StatusOr<LayerSignature> Describe(
      const LayerInputs& inputs) const override {
    const absl::Status status = CheckOneFloatInput(inputs, 3, 3);
    if (!status.ok()) return status;
    const Shape& input = inputs.inputs[0].shape;
    LayerSignature signature;
    signature.output = inputs.inputs[0];
    signature.weights = {
        {"weight", {{input.extent(1), input.extent(2)}}, Initializer::kNormal}};
    signature.forward.reads = {{Role::kInput}, {Role::kWeight}};
    signature.forward.writes = {{Role::kOutput}};
    signature.forward.in_place = {{{Role::kOutput}, {Role::kInput}}};
    signature.recompute = signature.forward;
    signature.gradient.reads = {{Role::kOutputDerivative}};
    signature.gradient.writes = {{Role::kGradient}};
    signature.derivative.reads = {{Role::kOutputDerivative}};
    signature.derivative.writes = {{Role::kInputDerivative}};
    signature.derivative.in_place = {
        {{Role::kInputDerivative}, {Role::kOutputDerivative}, true}};
    return signature;
  }

  absl::Status Forward(const StepData& data) const override {
    const int64_t table_elements = data.elements(Role::kWeight);
    const float* input = data.Read(Role::kInput);
    const float* table = data.Read(Role::kWeight);
    float* output = data.Write(Role::kOutput);
    const int64_t batch = data.elements(Role::kInput) / table_elements;
    data.math().ForEachBand(table_elements, batch, [=](const Band& band) {
      for (int64_t b = 0; b < batch; ++b) {
        const int64_t first = b * table_elements;
        for (int64_t i = band.begin; i < band.end; ++i) {
          output[first + i] = input[first + i] + table[i];
        }
      }
    });
    return absl::OkStatus();
  }

  void CalculateGradient(const StepData& data) const override {
    const int64_t table_elements = data.elements(Role::kGradient);
    SumRows(data.math(),
            data.elements(Role::kOutputDerivative) / table_elements,
            table_elements, data.Read(Role::kOutputDerivative),
            data.Write(Role::kGradient));
  }

  void CalculateDerivative(const StepData& data) const override {
    CopyUnlessShared(data.elements(Role::kInputDerivative),
                     data.Read(Role::kOutputDerivative),
                     data.Write(Role::kInputDerivative));
  }
};

}  // namespace

LayerPointer Flatten() { return std::make_shared<FlattenLayer>(); }
LayerPointer Add() { return std::make_shared<AddLayer>(); }
LayerPointer Multiply() { return std::make_shared<MultiplyLayer>(); }
LayerPointer Concatenate(int axis) {
  return std::make_shared<ConcatenateLayer>(axis);
}
LayerPointer Embedding(int64_t entries, int64_t width) {
  return std::make_shared<EmbeddingLayer>(entries, width);
}
LayerPointer PositionEmbedding() {
  return std::make_shared<PositionEmbeddingLayer>();
}

}  // namespace footprint
