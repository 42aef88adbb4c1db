#include "footprint/trainer_manager/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "absl/strings/str_cat.h"

namespace footprint {
namespace {

float Dot(const float* a, const float* b, int64_t length) {
  float sum = 0;
  for (int64_t i = 0; i < length; ++i) sum += a[i] * b[i];
  return sum;
}

void AddScaled(float factor, const float* from, int64_t length, float* to) {
  for (int64_t i = 0; i < length; ++i) to[i] += factor * from[i];
}

// Where one head's vectors lie in tensors whose rows are places.
struct Head {
  int64_t width;      // of this head
  int64_t all_width;  // of all heads
  int64_t places;
  int64_t first_row;  // of this element of the batch
  int64_t column;     // of this head

  int64_t Query(int64_t place) const {
    return (first_row + place) * 3 * all_width + column;
  }
  int64_t Key(int64_t place) const { return Query(place) + all_width; }
  int64_t Value(int64_t place) const { return Query(place) + 2 * all_width; }
  int64_t Output(int64_t place) const {
    return (first_row + place) * all_width + column;
  }
  float Scale() const { return 1.0f / std::sqrt(static_cast<float>(width)); }
};

class AttentionLayer final : public Layer {
 public:
  explicit AttentionLayer(const AttentionOptions& options)
      : options_(options) {}

  absl::string_view type() const override { return "attention"; }

  absl::StatusOr<LayerSignature> Describe(
      const LayerInputs& inputs) const override {
    const absl::Status status = CheckOneFloatInput(inputs, 3, 3);
    if (!status.ok()) return status;
    const Shape& input = inputs.inputs[0].shape;
    const int64_t width = input.extent(2) / 3;
    if (input.extent(2) % 3 != 0 || options_.heads < 1 ||
        width % options_.heads != 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the last extent of ", input.ToString(),
          " must be three times a multiple of the ", options_.heads, " heads"));
    }
    LayerSignature signature;
    signature.output.shape = {input.extent(0), input.extent(1), width};
    signature.forward.reads = {{Role::kInput}};
    signature.forward.writes = {{Role::kOutput}};
    AddWorkspace(input.extent(1) * static_cast<int64_t>(sizeof(float)),
                 &signature, &signature.forward);
    signature.recompute = signature.forward;
    signature.recompute_products =
        2 * static_cast<double>(signature.output.shape.elements()) *
        static_cast<double>(input.extent(1));
    if (inputs.mode == NetworkMode::kInference) return signature;
    signature.saved = {{{input.extent(0), options_.heads, input.extent(1)}}};
    signature.forward.writes.push_back({Role::kSaved});
    signature.derivative.reads = {{Role::kInput},
                                  {Role::kOutput},
                                  {Role::kSaved},
                                  {Role::kOutputDerivative}};
    signature.derivative.writes = {{Role::kInputDerivative}};
    return signature;
  }

  absl::Status Forward(const StepData& data) const override {
    const float* input = data.Read(Role::kInput);
    float* output = data.Write(Role::kOutput);
    float* row = static_cast<float*>(data.Workspace());
    float* log_sums =
        data.Has(Role::kSaved) ? data.Write(Role::kSaved) : nullptr;
    int64_t query = 0;
    ForEachHead(data.shape(Role::kInput), [&](const Head& head) {
      for (int64_t i = 0; i < head.places; ++i, ++query) {
        const float log_sum = ForwardPlace(head, i, input, row, output);
        if (log_sums != nullptr) log_sums[query] = log_sum;
      }
    });
    return absl::OkStatus();
  }

  void CalculateDerivative(const StepData& data) const override {
    float* input_derivative = data.Write(Role::kInputDerivative);
    std::fill(input_derivative,
              input_derivative + data.elements(Role::kInputDerivative), 0.0f);
    const float* log_sums = data.Read(Role::kSaved);
    int64_t query = 0;
    ForEachHead(data.shape(Role::kInput), [&](const Head& head) {
      for (int64_t i = 0; i < head.places; ++i, ++query) {
        DerivativePlace(head, i, log_sums[query], data.Read(Role::kInput),
                        data.Read(Role::kOutput),
                        data.Read(Role::kOutputDerivative), input_derivative);
      }
    });
  }

 private:
  template <typename Visit>
  void ForEachHead(const Shape& input, Visit visit) const {
    const int64_t all_width = input.extent(2) / 3;
    const int64_t width = all_width / options_.heads;
    for (int64_t b = 0; b < input.extent(0); ++b) {
      for (int64_t h = 0; h < options_.heads; ++h) {
        visit(Head{width, all_width, input.extent(1), b * input.extent(1),
                   h * width});
      }
    }
  }

  // How many places the place `i` looks at, from the first.
  int64_t Seen(const Head& head, int64_t i) const {
    return options_.causal ? i + 1 : head.places;
  }

  // Returns the log of the sum of the exponentials of the scores.
  float ForwardPlace(const Head& head, int64_t i, const float* input,
                     float* row, float* output) const {
    const int64_t seen = Seen(head, i);
    float largest = -std::numeric_limits<float>::infinity();
    for (int64_t j = 0; j < seen; ++j) {
      row[j] = head.Scale() *
               Dot(input + head.Query(i), input + head.Key(j), head.width);
      largest = std::max(largest, row[j]);
    }
    float sum = 0;
    for (int64_t j = 0; j < seen; ++j) sum += std::exp(row[j] - largest);
    const float log_sum = largest + std::log(sum);
    float* to = output + head.Output(i);
    std::fill(to, to + head.width, 0.0f);
    for (int64_t j = 0; j < seen; ++j) {
      AddScaled(std::exp(row[j] - log_sum), input + head.Value(j), head.width,
                to);
    }
    return log_sum;
  }

  void DerivativePlace(const Head& head, int64_t i, float log_sum,
                       const float* input, const float* output,
                       const float* output_derivative,
                       float* input_derivative) const {
    const float* query = input + head.Query(i);
    const float* derivative = output_derivative + head.Output(i);
    const float common = Dot(derivative, output + head.Output(i), head.width);
    for (int64_t j = 0; j < Seen(head, i); ++j) {
      const float* key = input + head.Key(j);
      const float score = head.Scale() * Dot(query, key, head.width);
      const float probability = std::exp(score - log_sum);
      const float slope =
          probability * head.Scale() *
          (Dot(derivative, input + head.Value(j), head.width) - common);
      AddScaled(probability, derivative, head.width,
                input_derivative + head.Value(j));
      AddScaled(slope, key, head.width, input_derivative + head.Query(i));
      AddScaled(slope, query, head.width, input_derivative + head.Key(j));
    }
  }

  const AttentionOptions options_;
};

}  // namespace

LayerPointer Attention(const AttentionOptions& options) {
  return std::make_shared<AttentionLayer>(options);
}

}  // namespace footprint
