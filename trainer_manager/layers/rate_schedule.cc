#include "footprint/trainer_manager/layers/rate_schedule.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"

namespace footprint {
namespace {

constexpr double kPi = 3.14159265358979323846;

absl::Status CheckNumber(absl::string_view name, double value) {
  if (value >= 0 && std::isfinite(value)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the optimizer's ", name, " is ", value,
                   "; it must be finite and at least 0"));
}

absl::Status CheckIterations(absl::string_view name, int64_t iterations) {
  if (iterations >= 1) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(name, " of the rate's schedule has ", iterations,
                   " iterations; it must have 1 at least"));
}

}  // namespace

float RateSchedule::At(int64_t iteration) const {
  if (has_warm_up_ && iteration <= warm_up_iterations_) {
    return static_cast<float>(AtOwn(1) * static_cast<double>(iteration) /
                              static_cast<double>(warm_up_iterations_));
  }
  return static_cast<float>(AtOwn(iteration - warm_up_iterations_));
}

double RateSchedule::AtOwn(int64_t iteration) const {
  const int64_t done = iteration - 1;
  const double share = static_cast<double>(std::min(done, iterations_)) /
                       static_cast<double>(iterations_);
  switch (kind_) {
    case Kind::kConstant:
      return first_;
    case Kind::kLinear:
      return first_ + (last_ - first_) * share;
    case Kind::kCosine:
      return last_ + (first_ - last_) * (1 + std::cos(kPi * share)) / 2;
    case Kind::kStep:
      return first_ *
             std::pow(factor_, static_cast<double>(done / iterations_));
    case Kind::kExponential:
      return first_ * std::pow(factor_, static_cast<double>(done));
  }
  return first_;
}

RateSchedule RateSchedule::Times(double factor) const {
  RateSchedule scaled = *this;
  scaled.first_ *= factor;
  scaled.last_ *= factor;
  return scaled;
}

std::string RateSchedule::Description() const {
  const auto own = [this]() -> std::string {
    switch (kind_) {
      case Kind::kConstant:
        return absl::StrFormat("%.9g", first_);
      case Kind::kLinear:
        return absl::StrFormat("on a line from %.9g to %.9g in %d iterations",
                               first_, last_, iterations_);
      case Kind::kCosine:
        return absl::StrFormat(
            "along a cosine from %.9g to %.9g in %d iterations", first_, last_,
            iterations_);
      case Kind::kStep:
        return absl::StrFormat("%.9g times %.9g each %d iterations", first_,
                               factor_, iterations_);
      case Kind::kExponential:
        return absl::StrFormat("%.9g times %.9g each iteration", first_,
                               factor_);
    }
    return "";
  };
  return has_warm_up_
             ? absl::StrCat(own(), " after a warm-up of ", warm_up_iterations_)
             : own();
}

absl::Status RateSchedule::Check() const {
  absl::Status status = CheckNumber("rate", first_);
  status.Update(CheckNumber("last rate", last_));
  status.Update(CheckNumber("factor of the rate", factor_));
  status.Update(CheckIterations("a part", iterations_));
  if (has_warm_up_) {
    status.Update(CheckIterations("the warm-up", warm_up_iterations_));
  }
  return status;
}

RateSchedule LinearRate(float first, float last, int64_t iterations) {
  return {RateSchedule::Kind::kLinear, first, last, 1, iterations};
}

RateSchedule CosineRate(float first, float last, int64_t iterations) {
  return {RateSchedule::Kind::kCosine, first, last, 1, iterations};
}

RateSchedule StepRate(float first, float factor, int64_t every) {
  return {RateSchedule::Kind::kStep, first, first, factor, every};
}

RateSchedule ExponentialRate(float first, float factor) {
  return {RateSchedule::Kind::kExponential, first, first, factor, 1};
}

RateSchedule AfterWarmUp(int64_t iterations, RateSchedule then) {
  then.has_warm_up_ = true;
  then.warm_up_iterations_ = iterations;
  return then;
}

}  // namespace footprint
