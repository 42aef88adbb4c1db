// Adam: steps down a gradient, each parameter at a pace of its own (Kingma and
// Ba, 2015).
//
//   AdamOptimizer optimizer(parameters.size(), /*learning_rate=*/1e-3);
//   for (...) optimizer.Step(gradient, absl::MakeSpan(parameters));
//
// Owns two moments for each parameter. Thread-compatible. Memory: 16 bytes a
// parameter, taken in the constructor. Time: linear.

#ifndef FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_ADAM_H_
#define FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_ADAM_H_

#include <cmath>
#include <cstddef>
#include <vector>

#include "absl/types/span.h"

namespace footprint {
namespace tabular {

class AdamOptimizer {
 public:
  AdamOptimizer(size_t parameter_count, double learning_rate)
      : learning_rate_(learning_rate),
        first_moments_(parameter_count),
        second_moments_(parameter_count) {}

  // Both spans have one element for each parameter.
  void Step(absl::Span<const double> gradient, absl::Span<double> parameters) {
    first_decay_ *= kFirstDecay;
    second_decay_ *= kSecondDecay;
    const double rate =
        learning_rate_ * std::sqrt(1 - second_decay_) / (1 - first_decay_);
    for (size_t i = 0; i < parameters.size(); ++i) {
      first_moments_[i] +=
          (1 - kFirstDecay) * (gradient[i] - first_moments_[i]);
      second_moments_[i] +=
          (1 - kSecondDecay) * (gradient[i] * gradient[i] - second_moments_[i]);
      parameters[i] -=
          rate * first_moments_[i] / (std::sqrt(second_moments_[i]) + kEpsilon);
    }
  }

 private:
  static constexpr double kFirstDecay = 0.9;
  static constexpr double kSecondDecay = 0.999;
  static constexpr double kEpsilon = 1e-8;

  const double learning_rate_;
  double first_decay_ = 1;
  double second_decay_ = 1;
  std::vector<double> first_moments_;
  std::vector<double> second_moments_;
};

}  // namespace tabular
}  // namespace footprint

#endif  // FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_ADAM_H_
