// Computes tails of the binomial, the normal and Student's distribution for
// hypothesis tests.
//
//   // How likely is it that 3 of 300 runs exceed a limit that one in 1,000 may
//   // exceed?
//   const double p_value = BinomialUpperTail(300, 0.001, 3);
//
// Relative error of the binomial and the normal distribution: at most 1e-12 for
// up to 10^9 trials (distributions_test compares with values of 50 digits).
// Their small tails keep this error, since they are summed and never subtracted
// from one. The tail of Student's distribution is subtracted from one, so its
// absolute error is about 1e-15, and its quantiles mean nothing for smaller
// tails.
//
// Pure functions, thread-safe; they allocate nothing. Time: constant for the
// normal distribution; for the binomial one an addition for each significant
// term, within about 10 standard deviations; for Student's about 100 steps for
// each degree of freedom.
//
// Sources: C. Loader, "Fast and accurate computation of binomial probabilities"
// (2000); M. Abramowitz and I. Stegun, "Handbook of Mathematical
// Functions", 26.2.22, refined by Newton's method.

#ifndef FOOTPRINT_GATES_STATISTICS_DISTRIBUTIONS_H_
#define FOOTPRINT_GATES_STATISTICS_DISTRIBUTIONS_H_

#include <cstdint>

namespace footprint {

// Returns the probability of exactly `successes` in `trials` trials, each of
// which succeeds with `probability`. It is zero outside 0..trials.
double BinomialProbability(int64_t trials, double probability,
                           int64_t successes);

// Returns the probability of at most `successes`.
double BinomialLowerTail(int64_t trials, double probability, int64_t successes);

// Returns the probability of at least `successes`.
double BinomialUpperTail(int64_t trials, double probability, int64_t successes);

// Returns the probability that a standard normal variable is at least `z`.
double NormalUpperTail(double z);

// Returns the z whose NormalUpperTail is `tail`, which lies between 0 and 1,
// both excluded.
double NormalUpperQuantile(double tail);

// Returns the t that a variable of Student's distribution reaches or exceeds
// with the probability `tail`, which lies between 0 and 0.5, both excluded.
// `degrees_of_freedom` must be at least 1. Source: Abramowitz and
// Stegun, 26.7.3 and 26.7.4.
double StudentUpperQuantile(int degrees_of_freedom, double tail);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_STATISTICS_DISTRIBUTIONS_H_
