#include "footprint/trainer_manager/layers/optimizer.h"

#include <cmath>
#include <initializer_list>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "footprint/trainer_manager/math/finite_values.h"

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

// Returns 0 if the value is finite, else 1. A number, so that loops can be
// vectorised.
inline int32_t NotFinite(float value) {
  return std::abs(value) <= std::numeric_limits<float>::max() ? 0 : 1;
}

// Returns whether not_finite(i) is 0 for all elements.
template <typename Test>
bool AllFinite(int64_t elements, const Test& not_finite) {
  int32_t any = 0;
  for (int64_t i = 0; i < elements; ++i) any |= not_finite(i);
  return any == 0;
}

// A constant schedule in four bytes.
struct ConstantRate {
  float rate;

  float At(int64_t) const { return rate; }
  ConstantRate Times(double factor) const {
    return {static_cast<float>(factor * static_cast<double>(rate))};
  }
  std::string Description() const { return RateSchedule(rate).Description(); }
  absl::Status Check() const { return CheckAtLeastZero({{"rate", rate}}); }
};

template <typename Rate>
class StochasticGradientDescentOptimizer final : public Optimizer {
 public:
  explicit StochasticGradientDescentOptimizer(const Rate& rate) : rate_(rate) {}

  absl::string_view name() const override { return "SGD"; }
  std::string Description() const override {
    return absl::StrCat("SGD, rate ", rate_.Description());
  }
  int states_per_weight() const override { return 0; }
  bool is_elementwise() const override { return true; }
  bool foresees_values() const override { return true; }

  absl::Status CheckParameters() const override { return rate_.Check(); }

  absl::optional<float> RateAt(int64_t iteration) const override {
    return rate_.At(iteration);
  }
  OptimizerPointer ForGroup(float rate_factor,
                            absl::optional<float> weight_decay) const override {
    if (weight_decay) return nullptr;
    return std::make_shared<StochasticGradientDescentOptimizer>(
        rate_.Times(rate_factor));
  }

  void Apply(int64_t iteration, int64_t elements, const float* gradient,
             float* weight, absl::Span<float* const>) const override {
    const float rate = rate_.At(iteration);
    for (int64_t i = 0; i < elements; ++i) weight[i] -= rate * gradient[i];
  }

  bool StaysFinite(int64_t iteration, int64_t elements, const float* gradient,
                   const float* weight,
                   absl::Span<float* const>) const override {
    const float rate = rate_.At(iteration);
    return AllFinite(elements, [=](int64_t i) {
      return NotFinite(weight[i] - rate * gradient[i]);
    });
  }

 private:
  const Rate rate_;
};

template <typename Rate>
class MomentumOptimizer final : public Optimizer {
 public:
  MomentumOptimizer(const Rate& rate, float momentum)
      : rate_(rate), momentum_(momentum) {}

  absl::string_view name() const override { return "momentum"; }
  std::string Description() const override {
    return absl::StrFormat("momentum %.9g, rate %s", momentum_,
                           rate_.Description());
  }
  int states_per_weight() const override { return 1; }
  bool is_elementwise() const override { return true; }
  bool foresees_values() const override { return true; }

  absl::Status CheckParameters() const override {
    absl::Status status = rate_.Check();
    status.Update(CheckAtLeastZero({{"momentum", momentum_}}));
    return status;
  }

  absl::optional<float> RateAt(int64_t iteration) const override {
    return rate_.At(iteration);
  }
  OptimizerPointer ForGroup(float rate_factor,
                            absl::optional<float> weight_decay) const override {
    if (weight_decay) return nullptr;
    return std::make_shared<MomentumOptimizer>(rate_.Times(rate_factor),
                                               momentum_);
  }

  void Apply(int64_t iteration, int64_t elements, const float* gradient,
             float* weight, absl::Span<float* const> states) const override {
    const float rate = rate_.At(iteration);
    const float momentum = momentum_;
    float* velocity = states[0];
    for (int64_t i = 0; i < elements; ++i) {
      velocity[i] = momentum * velocity[i] + gradient[i];
      weight[i] -= rate * velocity[i];
    }
  }

  bool StaysFinite(int64_t iteration, int64_t elements, const float* gradient,
                   const float* weight,
                   absl::Span<float* const> states) const override {
    const float rate = rate_.At(iteration);
    const float momentum = momentum_;
    const float* velocity = states[0];
    return AllFinite(elements, [=](int64_t i) {
      const float next = momentum * velocity[i] + gradient[i];
      return NotFinite(next) | NotFinite(weight[i] - rate * next);
    });
  }

 private:
  const Rate rate_;
  const float momentum_;
};

// Two policies of decoupled weight decay: none, or in proportion to the rate.
struct NoDecay {
  static constexpr absl::string_view kOptimizer = "Adam";
  static float weight_decay() { return 0; }
  absl::optional<NoDecay> With(absl::optional<float> decay) const {
    if (decay) return absl::nullopt;
    return *this;
  }
};
struct WeightDecay {
  static constexpr absl::string_view kOptimizer = "AdamW";
  float value;
  float weight_decay() const { return value; }
  absl::optional<WeightDecay> With(absl::optional<float> decay) const {
    return WeightDecay{decay.value_or(value)};
  }
};

template <typename Rate, typename Decay>
class AdamOptimizer final : public Optimizer, private Decay {
 public:
  AdamOptimizer(const Rate& rate, const Decay& decay, float first_decay,
                float second_decay, float epsilon)
      : Decay(decay),
        rate_(rate),
        first_decay_(first_decay),
        second_decay_(second_decay),
        epsilon_(epsilon) {}

  absl::string_view name() const override { return Decay::kOptimizer; }
  std::string Description() const override {
    return absl::StrFormat(
        "%s, rate %s, decay of weights %.9g, decays of averages %.9g and "
        "%.9g, epsilon %.9g",
        name(), rate_.Description(), this->weight_decay(), first_decay_,
        second_decay_, epsilon_);
  }
  int states_per_weight() const override { return 2; }
  bool is_elementwise() const override { return true; }
  bool foresees_values() const override { return true; }

  absl::Status CheckParameters() const override {
    absl::Status status = rate_.Check();
    status.Update(CheckAtLeastZero(
        {{"decay of weights", this->weight_decay()}, {"epsilon", epsilon_}}));
    status.Update(CheckDecays(
        {{"first decay", first_decay_}, {"second decay", second_decay_}}));
    return status;
  }

  absl::optional<float> RateAt(int64_t iteration) const override {
    return rate_.At(iteration);
  }
  OptimizerPointer ForGroup(float rate_factor,
                            absl::optional<float> weight_decay) const override {
    const auto decay = this->With(weight_decay);
    if (!decay) return nullptr;
    return std::make_shared<AdamOptimizer>(rate_.Times(rate_factor), *decay,
                                           first_decay_, second_decay_,
                                           epsilon_);
  }

  void Apply(int64_t iteration, int64_t elements, const float* gradient,
             float* weight, absl::Span<float* const> states) const override {
    const Update update = UpdateAt(iteration);
    float* first = states[0];
    float* second = states[1];
    for (int64_t i = 0; i < elements; ++i) {
      const Values next =
          update.Of(gradient[i], {weight[i], first[i], second[i]});
      weight[i] = next.weight;
      first[i] = next.first;
      second[i] = next.second;
    }
  }

  bool StaysFinite(int64_t iteration, int64_t elements, const float* gradient,
                   const float* weight,
                   absl::Span<float* const> states) const override {
    const Update update = UpdateAt(iteration);
    const float* first = states[0];
    const float* second = states[1];
    return AllFinite(elements, [=](int64_t i) {
      const Values next =
          update.Of(gradient[i], {weight[i], first[i], second[i]});
      return NotFinite(next.weight) | NotFinite(next.first) |
             NotFinite(next.second);
    });
  }

 private:
  struct Values {
    float weight;
    float first;
    float second;
  };

  // The factors by which an iteration changes each weight.
  struct Update {
    float first_decay;
    float second_decay;
    float step;
    float correction;
    float epsilon;
    float kept;  // factor of the weight after its decay

    Values Of(float g, const Values& last) const {
      Values next;
      next.first = first_decay * last.first + (1.0f - first_decay) * g;
      next.second = second_decay * last.second + (1.0f - second_decay) * g * g;
      next.weight =
          last.weight * kept -
          step * next.first / (std::sqrt(next.second * correction) + epsilon);
      return next;
    }
  };

  Update UpdateAt(int64_t iteration) const {
    const double steps = static_cast<double>(iteration);
    const double rate = rate_.At(iteration);
    const float step = static_cast<float>(
        rate / (1.0 - std::pow(static_cast<double>(first_decay_), steps)));
    const float correction = static_cast<float>(
        1.0 / (1.0 - std::pow(static_cast<double>(second_decay_), steps)));
    const float kept = static_cast<float>(1.0 - rate * this->weight_decay());
    return {first_decay_, second_decay_, step, correction, epsilon_, kept};
  }

  const Rate rate_;
  const float first_decay_;
  const float second_decay_;
  const float epsilon_;
};

// Calls `make` with the rate in its smallest representation.
template <typename Make>
OptimizerPointer WithRate(const RateSchedule& rate, const Make& make) {
  if (rate.is_constant()) return make(ConstantRate{rate.At(1)});
  return make(rate);
}

template <typename Decay>
OptimizerPointer MakeAdam(const RateSchedule& rate, const Decay& decay,
                          float first_decay, float second_decay,
                          float epsilon) {
  return WithRate(rate, [&](const auto& held) -> OptimizerPointer {
    using Rate = std::decay_t<decltype(held)>;
    return std::make_shared<AdamOptimizer<Rate, Decay>>(
        held, decay, first_decay, second_decay, epsilon);
  });
}

}  // namespace

bool Optimizer::StaysFinite(int64_t, int64_t elements, const float* gradient,
                            const float*, absl::Span<float* const>) const {
  return FirstNotFinite(gradient, elements) < 0;
}

OptimizerPointer Optimizer::ForGroup(float, absl::optional<float>) const {
  return nullptr;
}

OptimizerPointer StochasticGradientDescent(RateSchedule rate) {
  return WithRate(rate, [](const auto& held) -> OptimizerPointer {
    using Rate = std::decay_t<decltype(held)>;
    return std::make_shared<StochasticGradientDescentOptimizer<Rate>>(held);
  });
}

OptimizerPointer Momentum(RateSchedule rate, float momentum) {
  return WithRate(rate, [momentum](const auto& held) -> OptimizerPointer {
    using Rate = std::decay_t<decltype(held)>;
    return std::make_shared<MomentumOptimizer<Rate>>(held, momentum);
  });
}

OptimizerPointer Adam(RateSchedule rate, float first_decay, float second_decay,
                      float epsilon) {
  return MakeAdam(rate, NoDecay(), first_decay, second_decay, epsilon);
}

OptimizerPointer AdamW(RateSchedule rate, float weight_decay, float first_decay,
                       float second_decay, float epsilon) {
  return MakeAdam(rate, WeightDecay{weight_decay}, first_decay, second_decay,
                  epsilon);
}

}  // namespace footprint
