// The rate of an optimizer in each iteration.
//
//   // Grows for 100 iterations to 0.1, then falls along a cosine to 0.001.
//   const footprint::RateSchedule rate =
//       footprint::AfterWarmUp(100, footprint::CosineRate(0.1f, 0.001f, 900));
//   auto optimizer = footprint::StochasticGradientDescent(rate);
//
// A schedule is a function of the iteration alone, so a resumed training
// continues with the same rates. A rate that depends on the losses cannot be a
// schedule: replace the optimizer instead (Manager::ReplaceOptimizer).
//
// Immutable values, thread-safe. Memory: some words. The formulas are those of
// PyTorch's LinearLR, CosineAnnealingLR, StepLR and ExponentialLR, but its
// counter begins at 0 and ours at 1, and its cosine rises again after the last
// rate.

#ifndef FOOTPRINT_TRAINER_MANAGER_LAYERS_RATE_SCHEDULE_H_
#define FOOTPRINT_TRAINER_MANAGER_LAYERS_RATE_SCHEDULE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace footprint {

class RateSchedule {
 public:
  // A constant rate.
  RateSchedule(float rate)  // NOLINT: a number is a schedule
      : first_(rate), last_(rate) {}

  // Returns whether the rate is the same in each iteration.
  bool is_constant() const { return kind_ == Kind::kConstant && !has_warm_up_; }

  // Returns the rate of an iteration, counted from 1. The result is arbitrary
  // for a schedule that Check refuses.
  float At(int64_t iteration) const;

  // Returns this schedule with each rate multiplied by `factor`.
  RateSchedule Times(double factor) const;

  // Returns a text that names the kind and the numbers, each number with all
  // digits of a float.
  std::string Description() const;

  // Returns InvalidArgument, with the value, if a rate or a factor is negative
  // or not finite, or if a number of iterations is below 1.
  absl::Status Check() const;

 private:
  enum class Kind { kConstant, kLinear, kCosine, kStep, kExponential };

  RateSchedule(Kind kind, double first, double last, double factor,
               int64_t iterations)
      : kind_(kind),
        first_(first),
        last_(last),
        factor_(factor),
        iterations_(iterations) {}
  double AtOwn(int64_t iteration) const;

  friend RateSchedule LinearRate(float first, float last, int64_t iterations);
  friend RateSchedule CosineRate(float first, float last, int64_t iterations);
  friend RateSchedule StepRate(float first, float factor, int64_t every);
  friend RateSchedule ExponentialRate(float first, float factor);
  friend RateSchedule AfterWarmUp(int64_t iterations, RateSchedule then);

  Kind kind_ = Kind::kConstant;
  double first_ = 0;
  double last_ = 0;
  double factor_ = 1;
  int64_t iterations_ = 1;
  bool has_warm_up_ = false;
  int64_t warm_up_iterations_ = 0;
};

// Returns a rate that goes linearly from `first` in iteration 1 to `last` after
// `iterations` more, and stays at `last`.
RateSchedule LinearRate(float first, float last, int64_t iterations);

// Does the same along half a cosine.
RateSchedule CosineRate(float first, float last, int64_t iterations);

// Returns a rate of `first`, multiplied by `factor` after each `every`
// iterations.
RateSchedule StepRate(float first, float factor, int64_t every);

// Returns a rate of `first`, multiplied by `factor` after each iteration.
RateSchedule ExponentialRate(float first, float factor);

// Returns a rate that grows linearly from 1 / `iterations` of the first rate of
// `then`, and reaches that rate in iteration `iterations`. The next iteration
// is the first of `then`, and has the same rate. A second warm-up replaces the
// first.
RateSchedule AfterWarmUp(int64_t iterations, RateSchedule then);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_LAYERS_RATE_SCHEDULE_H_
