// The activation functions by name: a config asks for one, and a kernel applies
// it to the sums of a product. Only the kernels compute the functions, so code
// that names one does not need Highway.
//
//   ProductEpilogue epilogue = {{bias}, Activation::kGelu};

#ifndef FOOTPRINT_BASE_SIMD_ACTIVATION_H_
#define FOOTPRINT_BASE_SIMD_ACTIVATION_H_

namespace footprint {

// kGeluTanh is GPT-2's approximation by a hyperbolic tangent; kSilu is x / (1 +
// exp(-x)), as in Llama.
enum class Activation { kNone, kGelu, kGeluTanh, kRelu, kSilu };

}  // namespace footprint

// Tested by //lowmem/kernels:matrix_product_test and
// //lowmem/kernels:token_kernels_test.

#endif  // FOOTPRINT_BASE_SIMD_ACTIVATION_H_
