// Exponentials and the like on the machine's vector instructions, chosen at run
// time: what layers other than matrix products spend their time with.
//
//   const double log_sum = footprint::LogSumExp(row, count);
//   footprint::ExpDifferences(row, count, log_sum, probabilities);
//
// A result may lie where an operand lies. Relative errors are within 1e-6; what
// is less than e^-87 comes out as that. NaN and infinity give NaN or infinity.
// The order of sums depends on the count alone. No memory but the arguments',
// of which nothing is kept. Thread-safe.

#ifndef FOOTPRINT_TRAINER_MANAGER_MATH_ARRAY_FUNCTIONS_H_
#define FOOTPRINT_TRAINER_MANAGER_MATH_ARRAY_FUNCTIONS_H_

#include <cstdint>

namespace footprint {

// The log of the sum of the exponentials; `count` is at least 1. In double
// precision, since what is subtracted from it is often almost the same.
double LogSumExp(const float* values, int64_t count);

// results[i] = exp(values[i] - subtrahend).
void ExpDifferences(const float* values, int64_t count, float subtrahend,
                    float* results);

float DotProduct(const float* left, const float* right, int64_t count);

// results[i] = x times the normal distribution's share below x.
void ComputeGelu(const float* values, int64_t count, float* results);

// results[i] = factors[i] times ComputeGelu's slope at values[i].
void TimesGeluSlope(const float* factors, const float* values, int64_t count,
                    float* results);

// results[i] = factors[i] where values[i] is above 0, else 0; NaN where
// values[i] is NaN.
void TimesReluSlope(const float* factors, const float* values, int64_t count,
                    float* results);

// results[i] = 1 / (1 + exp(-values[i])).
void ComputeSigmoid(const float* values, int64_t count, float* results);

// results[i] = factors[i] times the slope where ComputeSigmoid gave outputs[i].
void TimesSigmoidSlope(const float* factors, const float* outputs,
                       int64_t count, float* results);

// results[i] = values[i] times the sigmoid of it.
void ComputeSilu(const float* values, int64_t count, float* results);

// results[i] = factors[i] times ComputeSilu's slope at values[i].
void TimesSiluSlope(const float* factors, const float* values, int64_t count,
                    float* results);

void ComputeTanh(const float* values, int64_t count, float* results);

// results[i] = factors[i] times the slope where ComputeTanh gave outputs[i].
void TimesTanhSlope(const float* factors, const float* outputs, int64_t count,
                    float* results);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_MATH_ARRAY_FUNCTIONS_H_
