// The words of dense products, and the rule that makes their bits the same
// however a product is cut. The tile that calculates them is dense_tile-inl.h.
//
//   const MatrixView matrix = {weights, /*row_stride=*/columns, 1};
//   const PanelView input = {numbers, /*panel_stride=*/columns * kPanelWidth};
//   Epilogue epilogue;  // from zero
//
//   output(row, column) = start + s(0) + s(1) + ..., added from the left
//
// * start is the bias of the row, or zero; with `accumulate`, that is added to
//   what the output holds.
// * s(i) is the sum over the i-th block of kSumBlock columns of the matrix. It
//   begins with zero and takes one column k after the other:
//   sum = fma(matrix(row, k), input(k, column), sum).
//
// The rule of identical bits. An output's sum is in this one order, whatever
// the tile, the thread and the instruction set: a tile keeps the sum of each
// output in a lane of its own and takes the columns one by one, so its rows,
// its panels and the width of a vector only choose which sums are calculated
// side by side. A product may be cut into any rows and any panels, between
// columns at multiples of kSumBlock (all but the first part with `accumulate`
// and without bias), and be calculated by any number of threads. Two groups of
// instruction sets differ: without fused multiply-add each product is rounded
// before it is added.
//
// Plain data, thread-compatible; the views own nothing and their numbers must
// outlive their use.
// Memory: at most 24 bytes a view.

#ifndef FOOTPRINT_BASE_SIMD_DENSE_PRODUCT_H_
#define FOOTPRINT_BASE_SIMD_DENSE_PRODUCT_H_

#include <cstdint>

namespace footprint {

// Columns of a panel: one cache line of floats, one AVX-512 register, two of
// AVX2, four of NEON.
inline constexpr int64_t kPanelWidth = 16;

// Neighbouring columns of the matrix that are summed before they are added to
// the output. Decides the bits of every product.
inline constexpr int64_t kSumBlock = 256;

// Element (row, column) at data[row * row_stride + column * column_stride]; one
// of the strides is 1.
struct MatrixView {
  const float* data = nullptr;
  int64_t row_stride = 0;
  int64_t column_stride = 0;
};

// Element (row, column) at data[row * kPanelWidth + (column / kPanelWidth) *
// panel_stride + column % kPanelWidth]; a row for each column of the matrix.
struct PanelView {
  const float* data = nullptr;
  int64_t panel_stride = 0;
};

// Output (row, column) at data[row * row_stride + (column / kPanelWidth) *
// panel_stride + column % kPanelWidth].
struct PanelOutput {
  float* data = nullptr;
  int64_t row_stride = 0;
  int64_t panel_stride = 0;
};

// How sums become outputs.
struct Epilogue {
  // One number a row, or null for zero.
  const float* bias = nullptr;
  // The sum is added to what the output holds, and the bias with it.
  bool accumulate = false;
};

}  // namespace footprint

// Tested by dense_tile_test.

#endif  // FOOTPRINT_BASE_SIMD_DENSE_PRODUCT_H_
