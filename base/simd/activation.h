// The activation functions, by name: what a config asks for and a kernel
// applies to the sums of a product. Mathematics is in the kernels; naming one
// needs no Highway.
//
//   ProductEpilogue epilogue = {{bias}, Activation::kGelu};

#ifndef FOOTPRINT_BASE_SIMD_ACTIVATION_H_
#define FOOTPRINT_BASE_SIMD_ACTIVATION_H_

namespace footprint {

// kGeluTanh is the approximation by a hyperbolic tangent, as GPT-2 has it;
// kSilu is x / (1 + exp(-x)), as Llama has it.
enum class Activation { kNone, kGelu, kGeluTanh, kRelu, kSilu };

}  // namespace footprint

// Tested by //lowmem/kernels:matrix_product_test and
// //lowmem/kernels:token_kernels_test.

#endif  // FOOTPRINT_BASE_SIMD_ACTIVATION_H_
