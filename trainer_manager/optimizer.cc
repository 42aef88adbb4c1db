#include "footprint/trainer_manager/optimizer.h"

#include <cmath>
#include <initializer_list>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace footprint {
namespace {

struct NamedValue {
  absl::string_view name;
  float value;
};

absl::Status CheckAtLeastZero(std::initializer_list<NamedValue> parameters) {
  for (const NamedValue& parameter : parameters) {
    if (parameter.value >= 0 && std::isfinite(parameter.value)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("the optimizer's ", parameter.name, " is ",
                     parameter.value, "; it must be finite and at least 0"));
  }
  return absl::OkStatus();
}

absl::Status CheckDecays(std::initializer_list<NamedValue> decays) {
  for (const NamedValue& decay : decays) {
    if (decay.value >= 0 && decay.value < 1) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("the optimizer's ", decay.name, " is ", decay.value,
                     "; it must be at least 0 and below 1"));
  }
  return absl::OkStatus();
}

class StochasticGradientDescentOptimizer final : public Optimizer {
 public:
  explicit StochasticGradientDescentOptimizer(float rate) : rate_(rate) {}

  int states_per_weight() const override { return 0; }

  absl::Status CheckParameters() const override {
    return CheckAtLeastZero({{"rate", rate_}});
  }

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

  absl::Status CheckParameters() const override {
    return CheckAtLeastZero({{"rate", rate_}, {"momentum", momentum_}});
  }

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

  absl::Status CheckParameters() const override {
    absl::Status status =
        CheckAtLeastZero({{"rate", rate_}, {"epsilon", epsilon_}});
    if (!status.ok()) return status;
    return CheckDecays(
        {{"first decay", first_decay_}, {"second decay", second_decay_}});
  }

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
