// Optimizers: the rules by which a gradient changes a weight.
//
//   std::shared_ptr<const footprint::Optimizer> adam = footprint::Adam(1e-3f);
//
// A rate is a number or a schedule (rate_schedule.h).
//
// Immutable and thread-safe. An optimizer's memory is in state tensors of the
// size of the weight. The caller owns them; they begin as zeros and live as
// long as the training. Memory: 0 (SGD), 1 (momentum) or 2 (Adam) times the
// weights.

#ifndef FOOTPRINT_TRAINER_MANAGER_LAYERS_OPTIMIZER_H_
#define FOOTPRINT_TRAINER_MANAGER_LAYERS_OPTIMIZER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "footprint/trainer_manager/layers/rate_schedule.h"

namespace footprint {

// The most states that an optimizer may have for each weight.
constexpr int kMostOptimizerStates = 4;

class Optimizer {
 public:
  virtual ~Optimizer() = default;

  // Returns the name that a training's file stores with the states. Two
  // optimizers with one name can continue with each other's states, so an
  // optimizer with states should have a name of its own.
  virtual absl::string_view name() const { return "the caller's"; }

  // Returns the rule with its numbers. A resumed training compares it to tell
  // whether the rule is the same. By default this is the name, which says
  // nothing of the numbers.
  virtual std::string Description() const { return std::string(name()); }

  // Returns the number of states, at most kMostOptimizerStates.
  virtual int states_per_weight() const = 0;

  // Returns InvalidArgument, with the value, if nothing can be trained with
  // these parameters. Manager::Create and ReplaceOptimizer call this.
  virtual absl::Status CheckParameters() const { return absl::OkStatus(); }

  // Changes the weight and its states. `iteration` counts from 1; each of
  // `states` has the weight's elements.
  virtual void Apply(int64_t iteration, int64_t elements, const float* gradient,
                     float* weight, absl::Span<float* const> states) const = 0;

  // Returns whether Apply and StaysFinite treat each element of a weight and of
  // its states alone. If so, they may be called for parts of a weight, on
  // several threads at the same time. Manager::Create and ReplaceOptimizer try
  // that with Apply on a small weight.
  virtual bool is_elementwise() const { return false; }

  // Returns whether StaysFinite predicts every value that is not finite. If
  // not, TrainStep checks weights and states after Apply, and fails if one is
  // not finite; they have changed by then.
  virtual bool foresees_values() const { return false; }

  // Returns the rate of an iteration for a report, or nullopt if the optimizer
  // does not know it.
  virtual absl::optional<float> RateAt(int64_t) const { return absl::nullopt; }

  // Returns an optimizer with the same states for a group of parameters
  // (//trainer_manager/networks:parameter_group): its rates are multiplied by
  // `rate_factor`, and `weight_decay`, if given, replaces its own. Returns null
  // if the optimizer does not support that: by default, and for a decay if it
  // has none. The result must be elementwise if and only if this one is.
  virtual std::shared_ptr<const Optimizer> ForGroup(
      float rate_factor, absl::optional<float> weight_decay) const;

  // Returns whether Apply with the same arguments would leave the weight and
  // its states without NaN and infinity; writes nothing. Manager::TrainStep
  // calls this before it changes a layer's first weight. The default only
  // checks the gradient.
  virtual bool StaysFinite(int64_t iteration, int64_t elements,
                           const float* gradient, const float* weight,
                           absl::Span<float* const> states) const;
};

using OptimizerPointer = std::shared_ptr<const Optimizer>;

// The following functions check nothing. CheckParameters of the result refuses
// rates, momentum, epsilon and weight decay that are not finite or below 0,
// decays of averages that are not at least 0 and below 1, and schedules that
// RateSchedule::Check refuses.

// The rule is weight -= rate * gradient.
OptimizerPointer StochasticGradientDescent(RateSchedule rate);

// The rule is velocity = momentum * velocity + gradient; weight -= rate *
// velocity.
OptimizerPointer Momentum(RateSchedule rate, float momentum = 0.9f);

// The rule is Adam (Kingma and Ba, 2015) with bias correction.
OptimizerPointer Adam(RateSchedule rate, float first_decay = 0.9f,
                      float second_decay = 0.999f, float epsilon = 1e-8f);

// The rule is Adam with weight decay decoupled from the gradient (Loshchilov
// and Hutter, 2019), as in PyTorch: weight *= 1 - rate * weight_decay, then
// Adam.
OptimizerPointer AdamW(RateSchedule rate, float weight_decay = 0.01f,
                       float first_decay = 0.9f, float second_decay = 0.999f,
                       float epsilon = 1e-8f);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_LAYERS_OPTIMIZER_H_
