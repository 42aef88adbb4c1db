#include "footprint/trainer_manager/optimizer.h"

#include <cmath>

namespace footprint {
namespace {

class StochasticGradientDescentOptimizer final : public Optimizer {
 public:
  explicit StochasticGradientDescentOptimizer(float rate) : rate_(rate) {}

  int states_per_weight() const override { return 0; }

  void Apply(int64_t, int64_t elements, const float* gradient, float* weight,
             absl::Span<float* const>) const override {
    for (int64_t i = 0; i < elements; ++i) weight[i] -= rate_ * gradient[i];
  }

 private:
  const float rate_;
};

class MomentumOptimizer final : public Optimizer {
 public:
  MomentumOptimizer(float rate, float momentum)
      : rate_(rate), momentum_(momentum) {}

  int states_per_weight() const override { return 1; }

  void Apply(int64_t, int64_t elements, const float* gradient, float* weight,
             absl::Span<float* const> states) const override {
    float* velocity = states[0];
    for (int64_t i = 0; i < elements; ++i) {
      velocity[i] = momentum_ * velocity[i] + gradient[i];
      weight[i] -= rate_ * velocity[i];
    }
  }

 private:
  const float rate_;
  const float momentum_;
};

class AdamOptimizer final : public Optimizer {
 public:
  AdamOptimizer(float rate, float first_decay, float second_decay,
                float epsilon)
      : rate_(rate),
        first_decay_(first_decay),
        second_decay_(second_decay),
        epsilon_(epsilon) {}

  int states_per_weight() const override { return 2; }

  void Apply(int64_t iteration, int64_t elements, const float* gradient,
             float* weight, absl::Span<float* const> states) const override {
    const double steps = static_cast<double>(iteration);
    const float step = static_cast<float>(
        rate_ / (1.0 - std::pow(static_cast<double>(first_decay_), steps)));
    const float correction = static_cast<float>(
        1.0 / (1.0 - std::pow(static_cast<double>(second_decay_), steps)));
    float* first = states[0];
    float* second = states[1];
    for (int64_t i = 0; i < elements; ++i) {
      const float g = gradient[i];
      first[i] = first_decay_ * first[i] + (1.0f - first_decay_) * g;
      second[i] = second_decay_ * second[i] + (1.0f - second_decay_) * g * g;
      weight[i] -=
          step * first[i] / (std::sqrt(second[i] * correction) + epsilon_);
    }
  }

 private:
  const float rate_;
  const float first_decay_;
  const float second_decay_;
  const float epsilon_;
};

}  // namespace

OptimizerPointer StochasticGradientDescent(float rate) {
  return std::make_shared<StochasticGradientDescentOptimizer>(rate);
}
OptimizerPointer Momentum(float rate, float momentum) {
  return std::make_shared<MomentumOptimizer>(rate, momentum);
}
OptimizerPointer Adam(float rate, float first_decay, float second_decay,
                      float epsilon) {
  return std::make_shared<AdamOptimizer>(rate, first_decay, second_decay,
                                         epsilon);
}

}  // namespace footprint
