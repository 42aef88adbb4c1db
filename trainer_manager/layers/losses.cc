#include "footprint/trainer_manager/layers/losses.h"

#include <algorithm>
#include <cstdint>
#include <memory>

#include "absl/strings/str_cat.h"
#include "footprint/trainer_manager/math/array_functions.h"

namespace footprint {
namespace {

LayerSignature LossSignature(const TensorType& prediction) {
  LayerSignature signature;
  signature.output.shape = {1};
  signature.forward.reads = {{Role::kInput}, {Role::kLabel}};
  signature.forward.writes = {{Role::kOutput}};
  signature.derivative.reads = {{Role::kInput}, {Role::kLabel}};
  signature.derivative.writes = {{Role::kInputDerivative}};
  signature.derivative.in_place = {{{Role::kInputDerivative}, {Role::kInput}}};
  signature.label = prediction;
  return signature;
}

absl::Status AllIgnored(int64_t labels, float ignored) {
  return absl::OutOfRangeError(
      absl::StrCat("all ", labels, " labels are ", ignored,
                   ", which is ignored, so there is no loss"));
}

class MeanSquaredErrorLayer final : public Layer {
 public:
  explicit MeanSquaredErrorLayer(const SquaredErrorOptions& options)
      : options_(options) {}

  absl::string_view type() const override { return "mean squared error"; }

  absl::StatusOr<LayerSignature> Describe(
      const LayerInputs& inputs) const override {
    const absl::Status status = CheckOneFloatInput(inputs, 1, kMaxRank);
    if (!status.ok()) return status;
    LayerSignature signature = LossSignature(inputs.inputs[0]);
    signature.ignored_label = options_.ignored_label;
    return signature;
  }

  absl::Status Forward(const StepData& data) const override {
    const int64_t elements = data.elements(Role::kInput);
    const float* prediction = data.Read(Role::kInput);
    const float* label = data.Read(Role::kLabel);
    const int64_t counted = CountLabels(label, elements);
    if (counted == 0) return AllIgnored(elements, *options_.ignored_label);
    double sum = 0;
    for (int64_t i = 0; i < elements; ++i) {
      if (IsIgnored(label[i])) continue;
      const double error = static_cast<double>(prediction[i]) - label[i];
      sum += error * error;
    }
    *data.Write(Role::kOutput) =
        static_cast<float>(sum / static_cast<double>(counted));
    return absl::OkStatus();
  }

  void CalculateDerivative(const StepData& data) const override {
    const int64_t elements = data.elements(Role::kInput);
    const float* prediction = data.Read(Role::kInput);
    const float* label = data.Read(Role::kLabel);
    float* derivative = data.Write(Role::kInputDerivative);
    const float factor =
        2.0f / static_cast<float>(CountLabels(label, elements));
    data.math().ForEachBand(elements, 1, [=](const Band& band) {
      for (int64_t i = band.begin; i < band.end; ++i) {
        derivative[i] =
            IsIgnored(label[i]) ? 0.0f : factor * (prediction[i] - label[i]);
      }
    });
  }

 private:
  bool IsIgnored(float label) const {
    return options_.ignored_label.has_value() &&
           label == *options_.ignored_label;
  }

  int64_t CountLabels(const float* label, int64_t elements) const {
    if (!options_.ignored_label.has_value()) return elements;
    return elements -
           std::count(label, label + elements, *options_.ignored_label);
  }

  const SquaredErrorOptions options_;
};

class SoftmaxCrossEntropyLayer final : public Layer {
 public:
  explicit SoftmaxCrossEntropyLayer(const SoftmaxOptions& options)
      : options_(options) {}

  absl::string_view type() const override { return "softmax cross entropy"; }

  absl::StatusOr<LayerSignature> Describe(
      const LayerInputs& inputs) const override {
    const absl::Status status = CheckOneFloatInput(inputs, 2, kMaxRank);
    if (!status.ok()) return status;
    if (!(options_.label_smoothing >= 0 && options_.label_smoothing < 1)) {
      return absl::InvalidArgumentError(
          absl::StrCat("the label smoothing is ", options_.label_smoothing,
                       "; it must be at least 0 and below 1"));
    }
    // The signature keeps the ignored label as a float, which holds every
    // integer up to this one exactly.
    constexpr int32_t kMostExact = 1 << 24;
    const int32_t ignored = options_.ignored_label.value_or(0);
    if (ignored < -kMostExact || ignored > kMostExact) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the ignored label is ", ignored, "; it must be from -2^24 to 2^24"));
    }
    const Shape& logits = inputs.inputs[0].shape;
    LayerSignature signature = LossSignature(inputs.inputs[0]);
    // There is a label for each row of logits.
    TensorType label = {{logits.extent(0)}, DType::kI32};
    if (logits.rank() == 3) {
      label.shape = {logits.extent(0), logits.extent(1)};
    } else if (logits.rank() == 4) {
      label.shape = {logits.extent(0), logits.extent(1), logits.extent(2)};
    }
    signature.label = label;
    // Each row saves the logarithm of its sum of exponentials.
    signature.saved = {{{logits.elements() / logits.extent(-1)}}};
    signature.forward.writes.push_back({Role::kSaved});
    signature.derivative.reads.push_back({Role::kSaved});
    if (options_.ignored_label.has_value()) {
      signature.ignored_label = static_cast<float>(*options_.ignored_label);
    }
    return signature;
  }

  absl::Status Forward(const StepData& data) const override {
    const int64_t classes = data.shape(Role::kInput).extent(-1);
    const int64_t rows = data.elements(Role::kInput) / classes;
    const float* logits = data.Read(Role::kInput);
    const int32_t* label = data.Read<int32_t>(Role::kLabel);
    float* log_sums = data.Write(Role::kSaved);
    double sum = 0;
    for (int64_t r = 0; r < rows; ++r) {
      log_sums[r] = 0;
      if (IsIgnored(label[r])) continue;
      if (label[r] < 0 || label[r] >= classes) {
        return absl::OutOfRangeError(
            absl::StrCat("label ", label[r], " at index ", r,
                         " is not one of the ", classes, " classes"));
      }
      const float* row = logits + r * classes;
      const double log_sum = LogSumExp(row, classes);
      log_sums[r] = static_cast<float>(log_sum);
      sum += log_sum - Target(row, classes, label[r]);
    }
    const int64_t counted = CountRows(label, rows);
    if (counted == 0) {
      return AllIgnored(rows, static_cast<float>(*options_.ignored_label));
    }
    *data.Write(Role::kOutput) =
        static_cast<float>(sum / static_cast<double>(counted));
    return absl::OkStatus();
  }

  void CalculateDerivative(const StepData& data) const override {
    const int64_t classes = data.shape(Role::kInput).extent(-1);
    const int64_t rows = data.elements(Role::kInput) / classes;
    const float* logits = data.Read(Role::kInput);
    const int32_t* label = data.Read<int32_t>(Role::kLabel);
    const float* log_sums = data.Read(Role::kSaved);
    float* derivative = data.Write(Role::kInputDerivative);
    const float factor = 1.0f / static_cast<float>(CountRows(label, rows));
    // The derivative is the softmax minus the target probabilities, divided by
    // the number of labels that count.
    const float everywhere =
        options_.label_smoothing / static_cast<float>(classes);
    const float target = 1.0f - options_.label_smoothing;
    data.math().ForEachBand(rows, classes, [=](const Band& band) {
      for (int64_t r = band.begin; r < band.end; ++r) {
        float* row = derivative + r * classes;
        if (IsIgnored(label[r])) {
          std::fill(row, row + classes, 0.0f);
          continue;
        }
        ExpDifferences(logits + r * classes, classes, log_sums[r], row);
        row[label[r]] -= target;
        for (int64_t c = 0; c < classes; ++c) {
          row[c] = (row[c] - everywhere) * factor;
        }
      }
    });
  }

 private:
  bool IsIgnored(int32_t label) const {
    return options_.ignored_label.has_value() &&
           label == *options_.ignored_label;
  }

  int64_t CountRows(const int32_t* label, int64_t rows) const {
    if (!options_.ignored_label.has_value()) return rows;
    return rows - std::count(label, label + rows, *options_.ignored_label);
  }

  // Returns the mean of the logits, weighted by the target probabilities. The
  // label has all of the target except the smoothing, which all classes share.
  double Target(const float* logits, int64_t classes, int32_t label) const {
    const double smoothing = options_.label_smoothing;
    if (smoothing == 0) return logits[label];
    double sum = 0;
    for (int64_t c = 0; c < classes; ++c) sum += logits[c];
    return (1 - smoothing) * logits[label] +
           smoothing * sum / static_cast<double>(classes);
  }

  const SoftmaxOptions options_;
};

}  // namespace

LayerPointer MeanSquaredError(const SquaredErrorOptions& options) {
  return std::make_shared<MeanSquaredErrorLayer>(options);
}
LayerPointer SoftmaxCrossEntropy(const SoftmaxOptions& options) {
  return std::make_shared<SoftmaxCrossEntropyLayer>(options);
}

}  // namespace footprint
