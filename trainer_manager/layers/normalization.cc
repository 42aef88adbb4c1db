#include "footprint/trainer_manager/layers/normalization.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "absl/strings/str_cat.h"

namespace footprint {
namespace {

absl::Status CheckEpsilon(float epsilon) {
  if (epsilon > 0.0f) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("an epsilon of ", epsilon, "; it must be above 0"));
}

absl::Status CheckMomentum(float momentum) {
  if (momentum >= 0.0f && momentum <= 1.0f) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("a momentum of ", momentum,
                   "; it is the share of a batch in the running statistics, "
                   "from 0 to 1"));
}

// Returns the common part of both signatures. The forward step saves the
// statistics, from which the output can be recomputed.
LayerSignature NormalizationSignature(const TensorType& input, int64_t features,
                                      int64_t means) {
  LayerSignature signature;
  signature.output = input;
  signature.weights = {{"scale", {{features}}, Initializer::kOnes},
                       {"shift", {{features}}, Initializer::kZeros}};
  signature.saved = {{{means}}, {{means}}};
  signature.forward.reads = {
      {Role::kInput}, {Role::kWeight, 0}, {Role::kWeight, 1}};
  signature.forward.writes = {
      {Role::kOutput}, {Role::kSaved, 0}, {Role::kSaved, 1}};
  signature.forward.in_place = {{{Role::kOutput}, {Role::kInput}}};
  signature.recompute.reads = {{Role::kInput},
                               {Role::kSaved, 0},
                               {Role::kSaved, 1},
                               {Role::kWeight, 0},
                               {Role::kWeight, 1}};
  signature.recompute.writes = {{Role::kOutput}};
  signature.recompute.in_place = signature.forward.in_place;
  signature.gradient.reads = {{Role::kInput},
                              {Role::kSaved, 0},
                              {Role::kSaved, 1},
                              {Role::kOutputDerivative}};
  signature.gradient.writes = {{Role::kGradient, 0}, {Role::kGradient, 1}};
  signature.derivative.reads = {{Role::kInput},
                                {Role::kSaved, 0},
                                {Role::kSaved, 1},
                                {Role::kWeight, 0},
                                {Role::kOutputDerivative}};
  signature.derivative.writes = {{Role::kInputDerivative}};
  signature.derivative.in_place = {
      {{Role::kInputDerivative}, {Role::kOutputDerivative}},
      {{Role::kInputDerivative}, {Role::kInput}}};
  return signature;
}

// The layout of a batch by channels.
struct Channels {
  int64_t batch;
  int64_t channels;
  int64_t pixels;

  explicit Channels(const Shape& shape)
      : batch(shape.extent(0)),
        channels(shape.extent(1)),
        pixels(shape.elements() / (batch * channels)) {}

  // Calls visit(channel) for all channels, on the threads of the step.
  template <typename Visit>
  void ForEachChannel(const StepData& data, const Visit& visit) const {
    data.math().ForEachBand(channels, batch * pixels, [&](const Band& band) {
      for (int64_t c = band.begin; c < band.end; ++c) visit(c);
    });
  }

  // Calls visit(index) for all elements of a channel.
  template <typename Visit>
  void ForEach(int64_t channel, Visit visit) const {
    for (int64_t b = 0; b < batch; ++b) {
      const int64_t begin = (b * channels + channel) * pixels;
      for (int64_t i = begin; i < begin + pixels; ++i) visit(i);
    }
  }
};

class BatchNormalizationLayer final : public Layer {
 public:
  BatchNormalizationLayer(float epsilon, float momentum)
      : epsilon_(epsilon), momentum_(momentum) {}

  absl::string_view type() const override { return "batch normalization"; }

  absl::StatusOr<LayerSignature> Describe(
      const LayerInputs& inputs) const override {
    absl::Status status = CheckOneFloatInput(inputs, 2, kMaxRank);
    if (status.ok()) status = CheckEpsilon(epsilon_);
    if (status.ok()) status = CheckMomentum(momentum_);
    if (!status.ok()) return status;
    const Shape& shape = inputs.inputs[0].shape;
    const int64_t channels = shape.extent(1);
    LayerSignature signature =
        NormalizationSignature(inputs.inputs[0], channels, channels);
    signature.statistics = {{"mean", {{channels}}, Initializer::kZeros},
                            {"variance", {{channels}}, Initializer::kOnes}};
    for (int i = 0; i < 2; ++i) {
      signature.forward.reads.push_back({Role::kRunningStatistic, i});
      signature.derivative.reads.push_back({Role::kGradient, i});
    }
    if (inputs.mode == NetworkMode::kInference) {
      signature.saved.clear();
      signature.forward.writes = {{Role::kOutput}};
      return signature;
    }
    if (inputs.frozen) {
      UseRunningStatistics(&signature);
      return signature;
    }
    if (shape.elements() == channels) {
      return absl::InvalidArgumentError(
          absl::StrCat("one value a channel in ", shape.ToString(),
                       " has no variance to train by"));
    }
    for (int i = 0; i < 2; ++i) {
      signature.forward.writes.push_back({Role::kRunningStatistic, i});
    }
    return signature;
  }

  absl::Status Forward(const StepData& data) const override {
    const Channels layout(data.shape(Role::kInput));
    const bool training = data.Has(Role::kSaved);
    layout.ForEachChannel(data, [&](int64_t c) {
      if (training) TakeStatistics(data, layout, c);
      const float mean = training ? data.Write(Role::kSaved, 0)[c]
                                  : data.Read(Role::kRunningStatistic, 0)[c];
      const float inverse =
          training ? data.Write(Role::kSaved, 1)[c] : InverseDeviation(data, c);
      Normalize(data, layout, c, mean, inverse);
    });
    return absl::OkStatus();
  }

  absl::Status Recompute(const StepData& data) const override {
    if (!data.Has(Role::kSaved)) return Forward(data);
    const Channels layout(data.shape(Role::kInput));
    layout.ForEachChannel(data, [&](int64_t c) {
      Normalize(data, layout, c, data.Read(Role::kSaved, 0)[c],
                data.Read(Role::kSaved, 1)[c]);
    });
    return absl::OkStatus();
  }

  void CalculateGradient(const StepData& data) const override {
    const Channels layout(data.shape(Role::kInput));
    layout.ForEachChannel(data, [&](int64_t c) {
      const float* input = data.Read(Role::kInput);
      const float* derivative = data.Read(Role::kOutputDerivative);
      const float mean = data.Read(Role::kSaved, 0)[c];
      const float inverse = data.Read(Role::kSaved, 1)[c];
      double scale = 0;
      double shift = 0;
      layout.ForEach(c, [&](int64_t i) {
        scale += static_cast<double>(derivative[i]) * (input[i] - mean);
        shift += derivative[i];
      });
      data.Write(Role::kGradient, 0)[c] = static_cast<float>(scale * inverse);
      data.Write(Role::kGradient, 1)[c] = static_cast<float>(shift);
    });
  }

  void CalculateDerivative(const StepData& data) const override {
    if (data.Has(Role::kRunningStatistic, 1)) {
      ScaleDerivative(data);
      return;
    }
    const Channels layout(data.shape(Role::kInput));
    const float share = 1.0f / static_cast<float>(layout.batch * layout.pixels);
    layout.ForEachChannel(data, [&](int64_t c) {
      const float* input = data.Read(Role::kInput);
      const float* output_derivative = data.Read(Role::kOutputDerivative);
      float* input_derivative = data.Write(Role::kInputDerivative);
      const float mean = data.Read(Role::kSaved, 0)[c];
      const float inverse = data.Read(Role::kSaved, 1)[c];
      const float factor = data.Read(Role::kWeight, 0)[c] * inverse;
      // The means over the channel of dy * x-hat and of dy.
      const float along = data.Read(Role::kGradient, 0)[c] * share;
      const float common = data.Read(Role::kGradient, 1)[c] * share;
      layout.ForEach(c, [&](int64_t i) {
        const float normal = (input[i] - mean) * inverse;
        input_derivative[i] =
            factor * (output_derivative[i] - common - normal * along);
      });
    });
  }

 private:
  // A frozen layer only scales and shifts each channel, as in inference.
  static void UseRunningStatistics(LayerSignature* signature) {
    signature->saved.clear();
    signature->forward.writes = {{Role::kOutput}};
    signature->recompute = signature->forward;
    signature->gradient = StepUse();
    signature->derivative = StepUse();
    signature->derivative.reads = {{Role::kWeight, 0},
                                   {Role::kRunningStatistic, 1},
                                   {Role::kOutputDerivative}};
    signature->derivative.writes = {{Role::kInputDerivative}};
    signature->derivative.in_place = {
        {{Role::kInputDerivative}, {Role::kOutputDerivative}}};
    signature->derivative_by_element = true;
  }

  float InverseDeviation(const StepData& data, int64_t c) const {
    return 1.0f /
           std::sqrt(data.Read(Role::kRunningStatistic, 1)[c] + epsilon_);
  }

  void ScaleDerivative(const StepData& data) const {
    const Channels layout(data.shape(Role::kOutputDerivative));
    layout.ForEachChannel(data, [&](int64_t c) {
      const float* output_derivative = data.Read(Role::kOutputDerivative);
      float* input_derivative = data.Write(Role::kInputDerivative);
      const float factor =
          data.Read(Role::kWeight, 0)[c] * InverseDeviation(data, c);
      layout.ForEach(c, [&](int64_t i) {
        input_derivative[i] = factor * output_derivative[i];
      });
    });
  }

  static void Normalize(const StepData& data, const Channels& layout, int64_t c,
                        float mean, float inverse) {
    const float scale = data.Read(Role::kWeight, 0)[c];
    const float shift = data.Read(Role::kWeight, 1)[c];
    const float* input = data.Read(Role::kInput);
    float* output = data.Write(Role::kOutput);
    layout.ForEach(c, [&](int64_t i) {
      output[i] = scale * ((input[i] - mean) * inverse) + shift;
    });
  }

  void TakeStatistics(const StepData& data, const Channels& layout,
                      int64_t c) const {
    const float* input = data.Read(Role::kInput);
    const double count = static_cast<double>(layout.batch * layout.pixels);
    double sum = 0;
    layout.ForEach(c, [&](int64_t i) { sum += input[i]; });
    const double mean = sum / count;
    double squares = 0;
    layout.ForEach(c, [&](int64_t i) {
      squares += (input[i] - mean) * (input[i] - mean);
    });
    data.Write(Role::kSaved, 0)[c] = static_cast<float>(mean);
    data.Write(Role::kSaved, 1)[c] =
        static_cast<float>(1.0 / std::sqrt(squares / count + epsilon_));
    Move(data.Write(Role::kRunningStatistic, 0) + c, mean);
    Move(data.Write(Role::kRunningStatistic, 1) + c, squares / (count - 1));
  }

  void Move(float* running, double now) const {
    *running += momentum_ * (static_cast<float>(now) - *running);
  }

  const float epsilon_;
  const float momentum_;
};

// A tensor by rows, each of which is normalized by itself.
struct Rows {
  int64_t features;
  int64_t rows;

  explicit Rows(const Shape& shape)
      : features(shape.extent(-1)), rows(shape.elements() / features) {}

  // Calls visit(row) for all rows, on the threads of the step.
  template <typename Visit>
  void ForEachRow(const StepData& data, const Visit& visit) const {
    data.math().ForEachBand(rows, features, [&](const Band& band) {
      for (int64_t r = band.begin; r < band.end; ++r) visit(r);
    });
  }
};

// The operands of a step that normalizes rows.
struct NormalizedRows {
  int64_t features;
  const float* input;
  const float* scale;
  const float* shift;
  float* output;

  explicit NormalizedRows(const StepData& data)
      : features(data.shape(Role::kInput).extent(-1)),
        input(data.Read(Role::kInput)),
        scale(data.Read(Role::kWeight, 0)),
        shift(data.Read(Role::kWeight, 1)),
        output(data.Write(Role::kOutput)) {}

  void Normalize(int64_t row, float mean, float inverse) const {
    const float* from = input + row * features;
    float* to = output + row * features;
    for (int64_t f = 0; f < features; ++f) {
      to[f] = scale[f] * ((from[f] - mean) * inverse) + shift[f];
    }
  }
};

class LayerNormalizationLayer final : public Layer {
 public:
  explicit LayerNormalizationLayer(float epsilon) : epsilon_(epsilon) {}

  absl::string_view type() const override { return "layer normalization"; }

  absl::StatusOr<LayerSignature> Describe(
      const LayerInputs& inputs) const override {
    absl::Status status = CheckOneFloatInput(inputs, 2, kMaxRank);
    if (status.ok()) status = CheckEpsilon(epsilon_);
    if (!status.ok()) return status;
    const Shape& shape = inputs.inputs[0].shape;
    const int64_t features = shape.extent(-1);
    LayerSignature signature = NormalizationSignature(
        inputs.inputs[0], features, shape.elements() / features);
    if (inputs.mode == NetworkMode::kInference) {
      signature.saved.clear();
      signature.forward.writes = {{Role::kOutput}};
    }
    return signature;
  }

  absl::Status Forward(const StepData& data) const override {
    const NormalizedRows rows(data);
    const int64_t features = rows.features;
    const bool training = data.Has(Role::kSaved, 0);
    float* means = training ? data.Write(Role::kSaved, 0) : nullptr;
    float* inverses = training ? data.Write(Role::kSaved, 1) : nullptr;
    Rows(data.shape(Role::kInput)).ForEachRow(data, [=](int64_t r) {
      const float* row = rows.input + r * features;
      double sum = 0;
      for (int64_t f = 0; f < features; ++f) sum += row[f];
      const double mean = sum / static_cast<double>(features);
      double squares = 0;
      for (int64_t f = 0; f < features; ++f) {
        squares += (row[f] - mean) * (row[f] - mean);
      }
      const float row_mean = static_cast<float>(mean);
      const float inverse = static_cast<float>(
          1.0 / std::sqrt(squares / static_cast<double>(features) + epsilon_));
      if (training) {
        means[r] = row_mean;
        inverses[r] = inverse;
      }
      rows.Normalize(r, row_mean, inverse);
    });
    return absl::OkStatus();
  }

  absl::Status Recompute(const StepData& data) const override {
    const NormalizedRows rows(data);
    const float* means = data.Read(Role::kSaved, 0);
    const float* inverses = data.Read(Role::kSaved, 1);
    Rows(data.shape(Role::kInput)).ForEachRow(data, [=](int64_t r) {
      rows.Normalize(r, means[r], inverses[r]);
    });
    return absl::OkStatus();
  }

  void CalculateGradient(const StepData& data) const override {
    const Rows layout(data.shape(Role::kInput));
    data.math().ForEachBand(
        layout.features, layout.rows,
        [&](const Band& band) { SumGradients(data, layout, band); });
  }

  void CalculateDerivative(const StepData& data) const override {
    const Rows layout(data.shape(Role::kInput));
    data.math().ForEachBand(
        layout.rows, layout.features,
        [&](const Band& band) { DeriveRows(data, layout.features, band); });
  }

 private:
  // Calculates the gradients of a band of features.
  static void SumGradients(const StepData& data, const Rows& layout,
                           const Band& band) {
    const float* input = data.Read(Role::kInput);
    const float* derivative = data.Read(Role::kOutputDerivative);
    const float* means = data.Read(Role::kSaved, 0);
    const float* inverses = data.Read(Role::kSaved, 1);
    float* scale = data.Write(Role::kGradient, 0);
    float* shift = data.Write(Role::kGradient, 1);
    std::fill(scale + band.begin, scale + band.end, 0.0f);
    std::fill(shift + band.begin, shift + band.end, 0.0f);
    for (int64_t r = 0; r < layout.rows; ++r) {
      const float mean = means[r];
      const float inverse = inverses[r];
      for (int64_t f = band.begin; f < band.end; ++f) {
        const int64_t i = r * layout.features + f;
        scale[f] += derivative[i] * ((input[i] - mean) * inverse);
        shift[f] += derivative[i];
      }
    }
  }

  // Calculates the input derivative of a band of rows.
  static void DeriveRows(const StepData& data, int64_t features,
                         const Band& band) {
    const float* input = data.Read(Role::kInput);
    const float* scale = data.Read(Role::kWeight, 0);
    const float* means = data.Read(Role::kSaved, 0);
    const float* inverses = data.Read(Role::kSaved, 1);
    const float* output_derivative = data.Read(Role::kOutputDerivative);
    float* input_derivative = data.Write(Role::kInputDerivative);
    const float share = 1.0f / static_cast<float>(features);
    for (int64_t r = band.begin; r < band.end; ++r) {
      const float mean = means[r];
      const float inverse = inverses[r];
      float common = 0;
      float along = 0;
      for (int64_t i = r * features; i < (r + 1) * features; ++i) {
        const float scaled = output_derivative[i] * scale[i - r * features];
        common += scaled;
        along += scaled * ((input[i] - mean) * inverse);
      }
      common *= share;
      along *= share;
      for (int64_t i = r * features; i < (r + 1) * features; ++i) {
        const float scaled = output_derivative[i] * scale[i - r * features];
        const float normal = (input[i] - mean) * inverse;
        input_derivative[i] = inverse * (scaled - common - normal * along);
      }
    }
  }

  const float epsilon_;
};

// The operands of a step that scales rows.
struct ScaledRows {
  int64_t features;
  const float* input;
  const float* scale;
  float* output;

  explicit ScaledRows(const StepData& data)
      : features(data.shape(Role::kInput).extent(-1)),
        input(data.Read(Role::kInput)),
        scale(data.Read(Role::kWeight)),
        output(data.Write(Role::kOutput)) {}

  void Scale(int64_t row, float inverse) const {
    const float* from = input + row * features;
    float* to = output + row * features;
    for (int64_t f = 0; f < features; ++f) {
      to[f] = scale[f] * (from[f] * inverse);
    }
  }
};

class RmsNormalizationLayer final : public Layer {
 public:
  explicit RmsNormalizationLayer(float epsilon) : epsilon_(epsilon) {}

  absl::string_view type() const override { return "RMS normalization"; }

  absl::StatusOr<LayerSignature> Describe(
      const LayerInputs& inputs) const override {
    absl::Status status = CheckOneFloatInput(inputs, 2, kMaxRank);
    if (status.ok()) status = CheckEpsilon(epsilon_);
    if (!status.ok()) return status;
    const Shape& shape = inputs.inputs[0].shape;
    const int64_t features = shape.extent(-1);
    LayerSignature signature;
    signature.output = inputs.inputs[0];
    signature.weights = {{"scale", {{features}}, Initializer::kOnes}};
    signature.forward.reads = {{Role::kInput}, {Role::kWeight}};
    signature.forward.writes = {{Role::kOutput}};
    signature.forward.in_place = {{{Role::kOutput}, {Role::kInput}}};
    signature.recompute = signature.forward;
    if (inputs.mode == NetworkMode::kInference) return signature;
    signature.saved = {{{shape.elements() / features}}};
    signature.forward.writes.push_back({Role::kSaved});
    signature.recompute.reads.push_back({Role::kSaved});
    signature.gradient.reads = {
        {Role::kInput}, {Role::kSaved}, {Role::kOutputDerivative}};
    signature.gradient.writes = {{Role::kGradient}};
    signature.derivative.reads = {{Role::kInput},
                                  {Role::kSaved},
                                  {Role::kWeight},
                                  {Role::kOutputDerivative}};
    signature.derivative.writes = {{Role::kInputDerivative}};
    signature.derivative.in_place = {
        {{Role::kInputDerivative}, {Role::kOutputDerivative}},
        {{Role::kInputDerivative}, {Role::kInput}}};
    return signature;
  }

  absl::Status Forward(const StepData& data) const override {
    const ScaledRows rows(data);
    const int64_t features = rows.features;
    float* inverses =
        data.Has(Role::kSaved) ? data.Write(Role::kSaved) : nullptr;
    Rows(data.shape(Role::kInput)).ForEachRow(data, [=](int64_t r) {
      const float* row = rows.input + r * features;
      double squares = 0;
      for (int64_t f = 0; f < features; ++f) {
        squares += static_cast<double>(row[f]) * row[f];
      }
      const float inverse = static_cast<float>(
          1.0 / std::sqrt(squares / static_cast<double>(features) + epsilon_));
      if (inverses != nullptr) inverses[r] = inverse;
      rows.Scale(r, inverse);
    });
    return absl::OkStatus();
  }

  absl::Status Recompute(const StepData& data) const override {
    const ScaledRows rows(data);
    const float* inverses = data.Read(Role::kSaved);
    Rows(data.shape(Role::kInput)).ForEachRow(data, [=](int64_t r) {
      rows.Scale(r, inverses[r]);
    });
    return absl::OkStatus();
  }

  void CalculateGradient(const StepData& data) const override {
    const Rows layout(data.shape(Role::kInput));
    data.math().ForEachBand(
        layout.features, layout.rows,
        [&](const Band& band) { SumGradient(data, layout, band); });
  }

  void CalculateDerivative(const StepData& data) const override {
    const Rows layout(data.shape(Role::kInput));
    const int64_t features = layout.features;
    const float* scale = data.Read(Role::kWeight);
    const float* inputs = data.Read(Role::kInput);
    const float* derivatives = data.Read(Role::kOutputDerivative);
    const float* inverses = data.Read(Role::kSaved);
    float* results = data.Write(Role::kInputDerivative);
    layout.ForEachRow(data, [=](int64_t r) {
      const float* input = inputs + r * features;
      const float* derivative = derivatives + r * features;
      float* result = results + r * features;
      const float inverse = inverses[r];
      float along = 0;
      for (int64_t f = 0; f < features; ++f) {
        along += derivative[f] * scale[f] * (input[f] * inverse);
      }
      along /= static_cast<float>(features);
      for (int64_t f = 0; f < features; ++f) {
        result[f] =
            inverse * (derivative[f] * scale[f] - input[f] * inverse * along);
      }
    });
  }

 private:
  // Calculates the gradient of a band of features.
  static void SumGradient(const StepData& data, const Rows& layout,
                          const Band& band) {
    const float* input = data.Read(Role::kInput);
    const float* derivative = data.Read(Role::kOutputDerivative);
    const float* inverses = data.Read(Role::kSaved);
    float* scale = data.Write(Role::kGradient);
    std::fill(scale + band.begin, scale + band.end, 0.0f);
    for (int64_t r = 0; r < layout.rows; ++r) {
      const float inverse = inverses[r];
      for (int64_t f = band.begin; f < band.end; ++f) {
        const int64_t i = r * layout.features + f;
        scale[f] += derivative[i] * (input[i] * inverse);
      }
    }
  }

  const float epsilon_;
};

}  // namespace

LayerPointer RmsNormalization(float epsilon) {
  return std::make_shared<RmsNormalizationLayer>(epsilon);
}
LayerPointer BatchNormalization(float epsilon, float momentum) {
  return std::make_shared<BatchNormalizationLayer>(epsilon, momentum);
}
LayerPointer LayerNormalization(float epsilon) {
  return std::make_shared<LayerNormalizationLayer>(epsilon);
}

}  // namespace footprint
