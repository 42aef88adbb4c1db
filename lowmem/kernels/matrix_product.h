// Products of weights with activations, in the layout of token_panel.h, with
// the vector instructions of the machine (AVX-512, AVX2, SSE4, NEON, or none).
//
//   // 64 output features of 1024 input features, for every token
//   footprint::MultiplyPanels({weights, 1024, 1}, 64, 1024, {input, 1024 * 16},
//                             panels, {{bias}}, {output, 16, 64 * 16});
//
// Sums are in the order of base/simd/dense_product.h. So a product may be cut
// into tiles of any rows, any panels, and columns at multiples of kSumBlock,
// and be computed by any number of threads: the bits stay the same.
//
// Error: at most n 2^-24 sum |w||x|, where n = kSumBlock + columns / kSumBlock
// + 3; in practice about sqrt(n) 2^-24 sum |w||x|.
//
// MultiplyPanels takes floats. The functions with a type take F32, BF16 and
// F16, and MultiplyVector and WidenToFloat also the types of
// quantised_product.h, in whole blocks; any other type ends the program. All
// arithmetic is in float.
//
// Thread-safe: the functions keep nothing, allocate nothing, and need no memory
// but a few hundred bytes of stack. Outputs must not overlap inputs.

#ifndef FOOTPRINT_LOWMEM_KERNELS_MATRIX_PRODUCT_H_
#define FOOTPRINT_LOWMEM_KERNELS_MATRIX_PRODUCT_H_

#include <cstdint>

#include "footprint/base/simd/activation.h"
#include "footprint/base/simd/dense_product.h"
#include "footprint/base/tensor/dtype.h"

namespace footprint {

// Says what a product does with its sums. `accumulate` is set for a product
// with a residual, and for each tile of columns after the first.
struct ProductEpilogue : Epilogue {
  // The activation of the output, applied at the end of the call. So it is set
  // only for the last tile of columns.
  Activation activation = Activation::kNone;
};

// output(row, token) = activation(start + sum over columns of
// matrix(row, column) input(column, token)).
void MultiplyPanels(const MatrixView& matrix, int64_t rows, int64_t columns,
                    const PanelView& input, int64_t panels,
                    const ProductEpilogue& epilogue, const PanelOutput& output);

// Does the same for a single token; its time is that of reading the weights.
// `input` has the columns one after the other, and output(row) is at
// output[row * output_stride]. Within a block of columns sixteen sums, one for
// each column modulo 16, are added pairwise; blocks are added as above.
// Rows of the matrix are `row_stride` elements apart, columns 1.
void MultiplyVector(DType type, const void* matrix, int64_t row_stride,
                    int64_t rows, int64_t columns, const float* input,
                    const ProductEpilogue& epilogue, float* output,
                    int64_t output_stride);

// Does the same for panels of tokens that have the bits of single ones, with
// float weights and without an activation. Its time is that of MultiplyPanels.
void MultiplyPanelsAsVectors(const float* matrix, int64_t row_stride,
                             int64_t rows, int64_t columns,
                             const PanelView& input, int64_t panels,
                             const Epilogue& epilogue,
                             const PanelOutput& output);

// Adds a part of the product of a single token with a transposed matrix:
// sums(column) += matrix(row, column) scales(row) for every row, in order. If
// the sums begin at zero and a block's rows are added one after the other, in
// any number of calls, they have the bits of that block's sums in
// MultiplyPanels.
void AddScaledRows(DType type, const void* matrix, int64_t row_stride,
                   int64_t rows, int64_t columns, const float* scales,
                   float* sums);

// Applies an activation to `count` numbers that are `stride` apart, or to rows
// of panels, as the products above do.
void ActivateVector(Activation activation, int64_t count, float* output,
                    int64_t stride);
void ActivatePanels(Activation activation, int64_t rows, int64_t panels,
                    const PanelOutput& output);

// Converts numbers to floats. This is exact, since a float can hold each number
// of these types. Infinities stay infinities, and NaN stays NaN.
void WidenToFloat(DType type, const void* source, int64_t count,
                  float* destination);

// Returns the instruction set that the functions above use: "AVX3", "AVX2",
// "NEON".
const char* VectorInstructionsName();

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_KERNELS_MATRIX_PRODUCT_H_
