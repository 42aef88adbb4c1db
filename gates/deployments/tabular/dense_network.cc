#include "footprint/gates/deployments/tabular/dense_network.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "Eigen/Core"
#include "footprint/gates/deployments/tabular/matrix_products.h"

namespace footprint {
namespace tabular {
namespace {

using Eigen::Index;
using Matrix = Eigen::Map<Eigen::MatrixXd>;
using ConstMatrix = Eigen::Map<const Eigen::MatrixXd>;

Index ToIndex(size_t count) { return static_cast<Index>(count); }

}  // namespace

DenseNetwork::DenseNetwork(const std::vector<size_t>& unit_counts,
                           size_t batch_capacity)
    : batch_capacity_(batch_capacity) {
  size_t activation_count = unit_counts[0] * batch_capacity;
  size_t delta_count = 0;
  layers_.reserve(unit_counts.size() - 1);
  for (size_t i = 1; i < unit_counts.size(); ++i) {
    Layer layer;
    layer.input_count = unit_counts[i - 1];
    layer.output_count = unit_counts[i];
    layer.first_weight = parameter_count_;
    layer.first_bias =
        layer.first_weight + layer.input_count * layer.output_count;
    layer.first_activation = activation_count;
    layer.first_delta = delta_count;
    parameter_count_ = layer.first_bias + layer.output_count;
    activation_count += layer.output_count * batch_capacity;
    delta_count += layer.output_count * batch_capacity;
    layers_.push_back(layer);
  }
  activations_.resize(activation_count);
  delta_count_ = delta_count;
}

void DenseNetwork::Initialize(uint64_t seed,
                              absl::Span<double> parameters) const {
  std::mt19937_64 random(seed);
  for (const Layer& layer : layers_) {
    std::normal_distribution<double> normal(
        0, std::sqrt(2.0 / static_cast<double>(layer.input_count)));
    std::generate(parameters.begin() + layer.first_weight,
                  parameters.begin() + layer.first_bias,
                  [&] { return normal(random); });
    std::fill_n(parameters.begin() + layer.first_bias, layer.output_count, 0.0);
  }
}

const double* DenseNetwork::InputActivations(size_t index) const {
  return index == 0 ? activations_.data()
                    : activations_.data() + layers_[index - 1].first_activation;
}

const double* DenseNetwork::Forward(absl::Span<const double> parameters,
                                    size_t sample_count) {
  sample_count_ = sample_count;
  const Index samples = ToIndex(sample_count);
  for (size_t i = 0; i < layers_.size(); ++i) {
    const Layer& layer = layers_[i];
    const Index rows = ToIndex(layer.output_count);
    const ConstMatrix biases(&parameters[layer.first_bias], rows, 1);
    Matrix outputs(&activations_[layer.first_activation], rows, samples);
    outputs.colwise() = biases.col(0);
    MultiplyAdd({layer.output_count, layer.input_count},
                &parameters[layer.first_weight], sample_count,
                InputActivations(i), outputs.data());
    if (i + 1 < layers_.size()) outputs = outputs.cwiseMax(0.0);
  }
  return &activations_[layers_.back().first_activation];
}

double DenseNetwork::ComputeOutputDelta(absl::Span<const double> targets) {
  const Layer& last = layers_.back();
  const size_t count = last.output_count * sample_count_;
  const double scale = 1.0 / static_cast<double>(sample_count_);
  double loss = 0;
  for (size_t i = 0; i < count; ++i) {
    const double difference =
        activations_[last.first_activation + i] - targets[i];
    deltas_[last.first_delta + i] = difference * scale;
    loss += 0.5 * difference * difference * scale;
  }
  return loss;
}

void DenseNetwork::BackwardThroughLayer(size_t index,
                                        absl::Span<const double> parameters,
                                        absl::Span<double> gradient) {
  const Layer& layer = layers_[index];
  const Index rows = ToIndex(layer.output_count);
  const Index columns = ToIndex(layer.input_count);
  const Index samples = ToIndex(sample_count_);
  const Matrix delta(&deltas_[layer.first_delta], rows, samples);
  const ConstMatrix inputs(InputActivations(index), columns, samples);
  const MatrixShape shape = {layer.output_count, layer.input_count};
  MultiplyByTransposed(shape, delta.data(), sample_count_, inputs.data(),
                       &gradient[layer.first_weight]);
  Matrix(&gradient[layer.first_bias], rows, 1) = delta.rowwise().sum();
  if (index == 0) return;
  Matrix below(&deltas_[layers_[index - 1].first_delta], columns, samples);
  MultiplyTransposed(shape, &parameters[layer.first_weight], sample_count_,
                     delta.data(), below.data());
  // What ReLU held back has no part in the loss.
  below = (inputs.array() > 0.0).select(below, 0.0);
}

double DenseNetwork::Backward(absl::Span<const double> parameters,
                              absl::Span<const double> targets,
                              absl::Span<double> gradient) {
  // Inference needs none.
  deltas_.resize(delta_count_);
  const double loss = ComputeOutputDelta(targets);
  for (size_t i = layers_.size(); i-- > 0;) {
    BackwardThroughLayer(i, parameters, gradient);
  }
  return loss;
}

}  // namespace tabular
}  // namespace footprint
