#include "footprint/gates/statistics/distributions.h"

#include <cmath>
#include <cstdint>
#include <limits>

namespace footprint {
namespace {

constexpr double kTwoPi = 6.283185307179586;
constexpr double kNegligible = std::numeric_limits<double>::epsilon() / 16;

// Returns log(n!) less Stirling's approximation of it, for n > 0.
double ComputeStirlingError(double n) {
  if (n <= 15) {
    return std::lgamma(n + 1) - (n + 0.5) * std::log(n) + n -
           0.5 * std::log(kTwoPi);
  }
  const double nn = n * n;
  return (1.0 / 12 - (1.0 / 360 -
                      (1.0 / 1260 - (1.0 / 1680 - 1.0 / 1188 / nn) / nn) / nn) /
                         nn) /
         n;
}

// Returns x log(x / mean) + mean - x, for x > 0: by its series if x is near the
// mean, since the terms cancel there.
double ComputeDeviance(double x, double mean) {
  const double difference = x - mean;
  if (std::abs(difference) >= 0.1 * (x + mean)) {
    return x * std::log(x / mean) - difference;
  }
  const double ratio = difference / (x + mean);
  double sum = difference * ratio;
  double power = 2 * x * ratio;
  for (int i = 1;; ++i) {
    power *= ratio * ratio;
    const double next = sum + power / (2 * i + 1);
    if (next == sum) return sum;
    sum = next;
  }
}

// Sums the probabilities of `successes`, `successes` + step, and so on, each by
// its ratio to the one before. Must be called on the side of the mean where
// they fall.
double SumTail(int64_t trials, double probability, int64_t successes,
               int step) {
  const double odds = probability / (1 - probability);
  double term = BinomialProbability(trials, probability, successes);
  double sum = 0;
  for (int64_t k = successes; k >= 0 && k <= trials; k += step) {
    sum += term;
    if (term <= sum * kNegligible) break;
    term *= step > 0 ? static_cast<double>(trials - k) /
                           static_cast<double>(k + 1) * odds
                     : static_cast<double>(k) /
                           static_cast<double>(trials - k + 1) / odds;
  }
  return sum;
}

}  // namespace

double BinomialProbability(int64_t trials, double probability,
                           int64_t successes) {
  if (successes < 0 || successes > trials) return 0;
  if (probability <= 0) return successes == 0 ? 1 : 0;
  if (probability >= 1) return successes == trials ? 1 : 0;
  const auto n = static_cast<double>(trials);
  const auto k = static_cast<double>(successes);
  if (successes == 0) return std::exp(n * std::log1p(-probability));
  if (successes == trials) return std::exp(n * std::log(probability));
  const double exponent = ComputeStirlingError(n) - ComputeStirlingError(k) -
                          ComputeStirlingError(n - k) -
                          ComputeDeviance(k, n * probability) -
                          ComputeDeviance(n - k, n * (1 - probability));
  return std::exp(exponent) * std::sqrt(n / (kTwoPi * k * (n - k)));
}

double BinomialLowerTail(int64_t trials, double probability,
                         int64_t successes) {
  if (successes >= trials || probability <= 0) return successes < 0 ? 0 : 1;
  if (successes < 0 || probability >= 1) return 0;
  if (static_cast<double>(successes) >
      static_cast<double>(trials) * probability) {
    return 1 - SumTail(trials, probability, successes + 1, 1);
  }
  return SumTail(trials, probability, successes, -1);
}

double BinomialUpperTail(int64_t trials, double probability,
                         int64_t successes) {
  if (successes <= 0) return 1;
  if (probability >= 1) return successes <= trials ? 1 : 0;
  if (successes > trials || probability <= 0) return 0;
  if (static_cast<double>(successes) <
      static_cast<double>(trials) * probability) {
    return 1 - SumTail(trials, probability, successes - 1, -1);
  }
  return SumTail(trials, probability, successes, 1);
}

double NormalUpperTail(double z) { return std::erfc(z / std::sqrt(2.0)) / 2; }

double NormalUpperQuantile(double tail) {
  if (tail > 0.5) return -NormalUpperQuantile(1 - tail);
  // A first guess within 0.003 (Abramowitz and Stegun, 26.2.22), then Newton's
  // method on the logarithm, which is nearly a parabola even for tiny tails.
  const double root = std::sqrt(-2 * std::log(tail));
  double z = root - (2.30753 + 0.27061 * root) /
                        (1 + root * (0.99229 + 0.04481 * root));
  for (int i = 0; i < 4; ++i) {
    const double has = NormalUpperTail(z);
    const double density = std::exp(-z * z / 2) / std::sqrt(kTwoPi);
    z += std::log(has / tail) * has / density;
  }
  return z;
}

namespace {

// Returns the probability that a variable of Student's distribution is at least
// `t`.
double StudentUpperTail(int degrees_of_freedom, double t) {
  const double angle = std::atan(t / std::sqrt(degrees_of_freedom));
  const double cosine = std::cos(angle);
  const bool is_odd = degrees_of_freedom % 2 == 1;
  double term = is_odd ? cosine : 1;
  double sum = degrees_of_freedom > 1 ? term : 0;
  for (int i = is_odd ? 3 : 2; i < degrees_of_freedom; i += 2) {
    term *= cosine * cosine * (i - 1) / i;
    sum += term;
  }
  const double within =
      is_odd ? (angle + std::sin(angle) * sum) * 2 / std::acos(-1)
             : std::sin(angle) * sum;
  return (1 - within) / 2;
}

}  // namespace

double StudentUpperQuantile(int degrees_of_freedom, double tail) {
  double low = 0;
  double high = 1;
  while (StudentUpperTail(degrees_of_freedom, high) > tail) high *= 2;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (StudentUpperTail(degrees_of_freedom, middle) > tail ? low : high) = middle;
  }
  return high;
}

}  // namespace footprint
