// Multiplies quantised weights with one token, and widens them to floats.
//
//   // 64 output features of 1024 input features
//   MultiplyQuantisedVector(DType::kQ4_0, weights, 1024, 64, 1024, input, {},
//                           output, 1);
//
// A weight is the float that the GGUF format defines: the product of a scale
// with a whole number, in float arithmetic, and for some types the sum with a
// least value. A block of 32 weights has one of each. In Q4_K and Q5_K each
// group of 32 weights has its own, and in Q6_K each group of 16 has its scale.
// Activations stay floats. So a product has the bits of MultiplyVector with the
// widened weights, and its error is that of matrix_product.h against the file's
// weights.
//
// Types: Q4_0, Q4_1, Q5_0, Q5_1, Q8_0 (blocks of 32), Q4_K, Q5_K and Q6_K (of
// 256). Any other type ends the program. Counts of columns and strides are
// whole blocks.
//
// Thread-safe: nothing is kept or allocated.

#ifndef FOOTPRINT_LOWMEM_KERNELS_QUANTISED_PRODUCT_H_
#define FOOTPRINT_LOWMEM_KERNELS_QUANTISED_PRODUCT_H_

#include <cstdint>

#include "footprint/base/simd/dense_product.h"
#include "footprint/base/tensor/dtype.h"

namespace footprint {

// Multiplies the matrix with one token. The order of a sum, strides and the
// bias are as in MultiplyVector; no activation is applied.
void MultiplyQuantisedVector(DType type, const void* matrix, int64_t row_stride,
                             int64_t rows, int64_t columns, const float* input,
                             const Epilogue& epilogue, float* output,
                             int64_t output_stride);

// Writes `count` values, which are whole blocks. The source may be the last
// bytes of the destination.
void WidenQuantised(DType type, const void* source, int64_t count,
                    float* destination);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_KERNELS_QUANTISED_PRODUCT_H_
