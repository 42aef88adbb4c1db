// The three products that a dense layer needs, on plain arrays.
//
//   // outputs (3 x 8) += weights (3 x 5) * inputs (5 x 8)
//   MultiplyAdd({3, 5}, weights, 8, inputs, outputs);
//
// All matrices lie column by column without gaps. Eigen multiplies; its
// templates take long to compile: hence this plain interface, behind which an
// edit of the network does not compile them.
//
// Thread-safe where the outputs are not shared. Memory: none from the heap. A
// product packs its operands; up to 128 KiB that is done on the stack, and wide
// products are cut into slices that stay below. Time: rows x columns x samples.

#ifndef FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_MATRIX_PRODUCTS_H_
#define FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_MATRIX_PRODUCTS_H_

#include <cstddef>

namespace footprint {
namespace tabular {

// What a layer's weights measure: outputs x inputs.
struct MatrixShape {
  size_t row_count = 0;
  size_t column_count = 0;
};

// outputs (rows x samples) += weights * inputs (columns x samples)
void MultiplyAdd(MatrixShape shape, const double* weights, size_t sample_count,
                 const double* inputs, double* outputs);

// gradient (shape) = delta (rows x samples) * transposed inputs
// (columns x samples)
void MultiplyByTransposed(MatrixShape shape, const double* delta,
                          size_t sample_count, const double* inputs,
                          double* gradient);

// below (columns x samples) = transposed weights * delta (rows x samples)
void MultiplyTransposed(MatrixShape shape, const double* weights,
                        size_t sample_count, const double* delta,
                        double* below);

}  // namespace tabular
}  // namespace footprint

#endif  // FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_MATRIX_PRODUCTS_H_
