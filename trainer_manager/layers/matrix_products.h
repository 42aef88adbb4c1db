// The products of a layer that multiplies rows by a matrix [features, units],
// for all columns of the matrix or for a tile of them.
//
//   const RowsByMatrix product = {rows, features, units};
//   math.Multiply(product.Forward(tile), input, matrix_tile,
//                 output + tile.begin, workspace);
//   math.Multiply(product.Derivative(tile), output_derivative + tile.begin,
//                 matrix_tile, input_derivative, workspace);
//   math.Multiply(product.Gradient(rows), input + rows.begin,
//                 output_derivative, gradient_tile, workspace);
//
// The derivatives of all tiles add up, so they must run in their order. Plain
// data, thread-compatible.

#ifndef FOOTPRINT_TRAINER_MANAGER_LAYERS_MATRIX_PRODUCTS_H_
#define FOOTPRINT_TRAINER_MANAGER_LAYERS_MATRIX_PRODUCTS_H_

#include <cstdint>

#include "footprint/trainer_manager/layers/layer.h"
#include "footprint/trainer_manager/math/math_backend.h"

namespace footprint {

struct RowsByMatrix {
  int64_t rows = 0;
  int64_t features = 0;
  int64_t units = 0;

  MatrixTile AllColumns() const { return {0, units}; }
  // Returns the product that writes the tile's columns of the output.
  MatrixProduct Forward(const MatrixTile& tile) const {
    MatrixProduct product = {rows, tile.count(), features};
    product.result_stride = units;
    return product;
  }
  // Returns the product that reads the tile's columns of the output derivative,
  // and writes the input derivative or, unless the tile is the first, adds to
  // it.
  MatrixProduct Derivative(const MatrixTile& tile) const {
    MatrixProduct product = {rows, features, tile.count(), false,
                             /*transpose_right=*/true};
    product.accumulate = tile.begin > 0;
    product.left_stride = units;
    return product;
  }
  MatrixTile AllRows() const { return {0, features}; }
  // Returns the product that writes some rows of the matrix's gradient.
  MatrixProduct Gradient(const MatrixTile& of_matrix) const {
    MatrixProduct product = {of_matrix.count(), units, rows,
                             /*transpose_left=*/true};
    product.left_stride = features;
    return product;
  }
};

}  // namespace footprint

// Tested by layer_tiles_test.

#endif  // FOOTPRINT_TRAINER_MANAGER_LAYERS_MATRIX_PRODUCTS_H_
