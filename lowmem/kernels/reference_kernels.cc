#include "footprint/lowmem/kernels/reference_kernels.h"

#include <algorithm>
#include <cmath>

namespace footprint {

double ReferenceActivation(Activation activation, double x) {
  switch (activation) {
    case Activation::kGelu:
      return 0.5 * x * std::erfc(-x * std::sqrt(0.5));
    case Activation::kGeluTanh: {
      // x / 2 (1 + tanh u) would cancel if u is far below zero.
      const double u =
          std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x);
      return x / (1 + std::exp(-2 * u));
    }
    case Activation::kRelu:
      return std::max(x, 0.0);
    case Activation::kSilu:
      return x / (1 + std::exp(-x));
    case Activation::kNone:
      break;
  }
  return x;
}

ReferenceProduct MultiplyReference(const std::vector<float>& matrix,
                                   const std::vector<float>& input,
                                   int64_t rows, int64_t columns,
                                   int64_t tokens) {
  ReferenceProduct product;
  for (int64_t token = 0; token < tokens; ++token) {
    for (int64_t row = 0; row < rows; ++row) {
      double sum = 0;
      double magnitude = 0;
      for (int64_t column = 0; column < columns; ++column) {
        const double term =
            static_cast<double>(matrix[row * columns + column]) *
            input[token * columns + column];
        sum += term;
        magnitude += std::abs(term);
      }
      product.sum.push_back(sum);
      product.magnitude.push_back(magnitude);
    }
  }
  return product;
}

std::vector<double> LayerNormReference(const std::vector<double>& input,
                                       const std::vector<float>& gain,
                                       const std::vector<float>& bias,
                                       double epsilon) {
  const double count = static_cast<double>(input.size());
  double mean = 0;
  for (const double x : input) mean += x / count;
  double variance = 0;
  for (const double x : input) variance += (x - mean) * (x - mean) / count;
  std::vector<double> output;
  for (size_t i = 0; i < input.size(); ++i) {
    output.push_back(
        (input[i] - mean) / std::sqrt(variance + epsilon) * gain[i] + bias[i]);
  }
  return output;
}

std::vector<double> SoftmaxReference(const std::vector<double>& scores,
                                     int64_t end, double scale) {
  const auto past = scores.begin() + end;
  const double largest = *std::max_element(scores.begin(), past);
  std::vector<double> output(scores.size(), 0.0);
  double sum = 0;
  for (int64_t i = 0; i < end; ++i) {
    output[i] = std::exp(scale * (scores[i] - largest));
    sum += output[i];
  }
  for (double& x : output) x /= sum;
  return output;
}

}  // namespace footprint
