#include "footprint/base/simd/reference_product.h"

#include <algorithm>
#include <cmath>

namespace footprint {
namespace {

// Returns the sum over one block of a row of the matrix and a column of the
// input.
float SumOfBlock(const float* weights, int64_t column_stride, int64_t columns,
                 const float* input, bool fused) {
  float sum = 0;
  for (int64_t column = 0; column < columns; ++column) {
    const float weight = weights[column * column_stride];
    const float x = input[column * kPanelWidth];
    sum = fused ? std::fma(weight, x, sum) : sum + weight * x;
  }
  return sum;
}

}  // namespace

void MultiplyPanelsReference(const MatrixView& matrix, int64_t rows,
                             int64_t columns, const PanelView& input,
                             int64_t panels, const Epilogue& epilogue,
                             const PanelOutput& output, bool fused) {
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t i = 0; i < panels * kPanelWidth; ++i) {
      const int64_t panel = i / kPanelWidth;
      const int64_t lane = i % kPanelWidth;
      float& at = output.data[row * output.row_stride +
                              panel * output.panel_stride + lane];
      float value = epilogue.bias == nullptr ? 0.0f : epilogue.bias[row];
      if (epilogue.accumulate) value = at + value;
      for (int64_t column = 0; column < columns; column += kSumBlock) {
        value += SumOfBlock(matrix.data + row * matrix.row_stride +
                                column * matrix.column_stride,
                            matrix.column_stride,
                            std::min(kSumBlock, columns - column),
                            input.data + panel * input.panel_stride +
                                column * kPanelWidth + lane,
                            fused);
      }
      at = value;
    }
  }
}

}  // namespace footprint
