// The views of dense products, and the rule that makes their bits the same
// however a product is divided. dense_tile-inl.h has the tile that computes
// them.
//
//   const MatrixView matrix = {weights, /*row_stride=*/columns, 1};
//   const PanelView input = {numbers, /*panel_stride=*/columns * kPanelWidth};
//   Epilogue epilogue;  // from zero
//
//   output(row, column) = start + s(0) + s(1) + ..., added from the left
//
// * start is the bias of the row, or zero. With `accumulate`, the old value of
//   the output is added to it.
// * s(i) is the sum over the i-th block of kSumBlock columns of the matrix. It
//   begins with zero and takes one column k after the other:
//   sum = fma(matrix(row, k), input(k, column), sum).
//
// The rule of identical bits. An output's sum has this one order, whatever the
// tile, the thread and the instruction set. A tile keeps the sum of each output
// in its own lane and takes the columns one by one, so its rows, its panels and
// the width of a vector decide only which sums are computed side by side. A
// product may be divided into any rows and panels, and between columns at
// multiples of kSumBlock (all parts but the first with `accumulate` and without
// bias). Any number of threads may compute it. Two groups of instruction sets
// differ: without fused multiply-add each product is rounded before it is
// added.
//
// Plain data, thread-compatible. The views own nothing, and their numbers must
// outlive their use. Memory: at most 24 bytes per view.

#ifndef FOOTPRINT_BASE_SIMD_DENSE_PRODUCT_H_
#define FOOTPRINT_BASE_SIMD_DENSE_PRODUCT_H_

#include <cstdint>

namespace footprint {

// Columns of a panel: one cache line of floats, one AVX-512 register, two of
// AVX2, four of NEON.
inline constexpr int64_t kPanelWidth = 16;

// The number of neighbouring columns of the matrix that are summed before they
// are added to the output. It decides the bits of every product.
inline constexpr int64_t kSumBlock = 256;

// A matrix whose element (row, column) is at data[row * row_stride + column *
// column_stride]. One of the strides must be 1.
struct MatrixView {
  const float* data = nullptr;
  int64_t row_stride = 0;
  int64_t column_stride = 0;
};

// Panels whose element (row, column) is at data[row * kPanelWidth + (column /
// kPanelWidth) * panel_stride + column % kPanelWidth]. They have a row for each
// column of the matrix.
struct PanelView {
  const float* data = nullptr;
  int64_t panel_stride = 0;
};

// Output whose element (row, column) is at data[row * row_stride + (column /
// kPanelWidth) * panel_stride + column % kPanelWidth].
struct PanelOutput {
  float* data = nullptr;
  int64_t row_stride = 0;
  int64_t panel_stride = 0;
};

// Says how sums become outputs.
struct Epilogue {
  // One number per row, or null for zero.
  const float* bias = nullptr;
  // If set, the sum and the bias are added to what the output holds.
  bool accumulate = false;
};

}  // namespace footprint

// Tested by dense_tile_test.

#endif  // FOOTPRINT_BASE_SIMD_DENSE_PRODUCT_H_
