// The arithmetic of products with quantised weights.
//
//   DecoderOptions options;
//   options.arithmetic = footprint::Arithmetic::kInt8;
//
// Plain data, thread-compatible. Memory: none.

#ifndef FOOTPRINT_LOWMEM_KERNELS_ARITHMETIC_H_
#define FOOTPRINT_LOWMEM_KERNELS_ARITHMETIC_H_

namespace footprint {

// kExact: activations are floats, and the error is that of the file's weights
// (matrix_product.h). kInt8: activations are rounded to eight bits, which is
// faster and errs more (int8_product.h); weights that are not quantised are
// still multiplied exactly.
enum class Arithmetic { kExact, kInt8 };

}  // namespace footprint

// Tested by //lowmem/streaming:streamed_product_test.

#endif  // FOOTPRINT_LOWMEM_KERNELS_ARITHMETIC_H_
