// Exponentials and similar functions on arrays, by the machine's vector
// instructions, chosen at run time. Layers other than matrix products spend
// most of their time here.
//
//   const double log_sum = footprint::LogSumExp(row, count);
//   footprint::ExpDifferences(row, count, log_sum, probabilities);
//
// A result may overwrite an operand that begins at the same address. The
// relative errors of exponentials, sigmoid and tanh are within 1e-6. GELU and
// SiLU are within 1e-6 of the larger of 1 and the operand, slopes within 4e-6
// of the factor, and a dot product within 4e-6 of the sum of its products'
// magnitudes. Exponentials below e^-87 come out as e^-87, and finite ones above
// e^88 as e^88. NaN gives NaN, and infinity gives NaN or infinity, but sigmoid
// and tanh saturate. The order of sums depends only on the count. Allocates
// nothing and keeps nothing of its arguments. Thread-safe.

#ifndef FOOTPRINT_TRAINER_MANAGER_MATH_ARRAY_FUNCTIONS_H_
#define FOOTPRINT_TRAINER_MANAGER_MATH_ARRAY_FUNCTIONS_H_

#include <cstdint>

namespace footprint {

// Returns the log of the sum of the exponentials; `count` is at least 1. The
// result has double precision, because callers often subtract nearly equal
// numbers from it.
double LogSumExp(const float* values, int64_t count);

// results[i] = exp(values[i] - subtrahend).
void ExpDifferences(const float* values, int64_t count, float subtrahend,
                    float* results);

float DotProduct(const float* left, const float* right, int64_t count);

// results[i] = x times the normal distribution's share below x, where x is
// values[i].
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

// results[i] = values[i] times the sigmoid of values[i].
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
