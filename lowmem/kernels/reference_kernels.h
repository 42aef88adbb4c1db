// Computes the results of the kernels one number at a time in double precision,
// for their tests to compare with. Layouts are plain: matrices row after row,
// activations token after token.
//
//   const ReferenceProduct expected =
//       MultiplyReference(matrix, input, rows, columns, tokens);
//   EXPECT_NEAR(output[0], expected.sum[0], 1e-6 * expected.magnitude[0]);
//
// Pure functions, thread-safe. Memory: the result, 16 bytes for each output of
// a product, and 8 for each other output. Testonly.

#ifndef FOOTPRINT_LOWMEM_KERNELS_REFERENCE_KERNELS_H_
#define FOOTPRINT_LOWMEM_KERNELS_REFERENCE_KERNELS_H_

#include <cstdint>
#include <vector>

#include "footprint/base/simd/activation.h"

namespace footprint {

double ReferenceActivation(Activation activation, double x);

// The product of each token of `input` (tokens x columns) and row of `matrix`
// (rows x columns) and, in `magnitude`, the sum of absolute products.
struct ReferenceProduct {
  std::vector<double> sum;  // tokens x rows
  std::vector<double> magnitude;
};
ReferenceProduct MultiplyReference(const std::vector<float>& matrix,
                                   const std::vector<float>& input,
                                   int64_t rows, int64_t columns,
                                   int64_t tokens);

// Normalises one token.
std::vector<double> LayerNormReference(const std::vector<double>& input,
                                       const std::vector<float>& gain,
                                       const std::vector<float>& bias,
                                       double epsilon);

// Computes the softmax of the first `end` scores; the others become zero.
std::vector<double> SoftmaxReference(const std::vector<double>& scores,
                                     int64_t end, double scale);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_KERNELS_REFERENCE_KERNELS_H_
