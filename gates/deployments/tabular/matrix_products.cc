#include "footprint/gates/deployments/tabular/matrix_products.h"

#include <algorithm>

#include "Eigen/Core"

namespace footprint {
namespace tabular {
namespace {

using Eigen::Index;
using Matrix = Eigen::Map<Eigen::MatrixXd>;
using ConstMatrix = Eigen::Map<const Eigen::MatrixXd>;

// A product packs its operands; up to 128 KiB on the stack, beyond that in the
// heap, anew in each product. Slices of this width stay below.
constexpr Index kSliceWidth = 128;

Index ToIndex(size_t count) { return static_cast<Index>(count); }

}  // namespace

void MultiplyAdd(MatrixShape shape, const double* weights, size_t sample_count,
                 const double* inputs, double* outputs) {
  const Index rows = ToIndex(shape.row_count);
  const Index columns = ToIndex(shape.column_count);
  const Index samples = ToIndex(sample_count);
  const ConstMatrix weight_matrix(weights, rows, columns);
  const ConstMatrix input_matrix(inputs, columns, samples);
  Matrix output_matrix(outputs, rows, samples);
  for (Index first = 0; first < columns; first += kSliceWidth) {
    const Index width = std::min(kSliceWidth, columns - first);
    output_matrix.noalias() += weight_matrix.middleCols(first, width) *
                               input_matrix.middleRows(first, width);
  }
}

void MultiplyByTransposed(MatrixShape shape, const double* delta,
                          size_t sample_count, const double* inputs,
                          double* gradient) {
  const Index rows = ToIndex(shape.row_count);
  const Index columns = ToIndex(shape.column_count);
  const Index samples = ToIndex(sample_count);
  const ConstMatrix delta_matrix(delta, rows, samples);
  const ConstMatrix input_matrix(inputs, columns, samples);
  Matrix gradient_matrix(gradient, rows, columns);
  for (Index first = 0; first < columns; first += kSliceWidth) {
    const Index width = std::min(kSliceWidth, columns - first);
    gradient_matrix.middleCols(first, width).noalias() =
        delta_matrix * input_matrix.middleRows(first, width).transpose();
  }
}

void MultiplyTransposed(MatrixShape shape, const double* weights,
                        size_t sample_count, const double* delta,
                        double* below) {
  const Index rows = ToIndex(shape.row_count);
  const Index columns = ToIndex(shape.column_count);
  const Index samples = ToIndex(sample_count);
  Matrix(below, columns, samples).noalias() =
      ConstMatrix(weights, rows, columns).transpose() *
      ConstMatrix(delta, rows, samples);
}

}  // namespace tabular
}  // namespace footprint
