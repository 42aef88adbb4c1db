// Computes the products of dense_product.h one number at a time. The tile and
// the kernels that use it are compared with this oracle, bit for bit.
//
//   footprint::MultiplyPanelsReference({weights, 100, 1}, 40, 100,
//                                      {input, 1600}, 3, {bias},
//                                      {output, 16, 640}, fused);
//
// Thread-safe; allocates nothing and keeps nothing: the caller owns the views'
// numbers. Only tests may use it.

#ifndef FOOTPRINT_BASE_SIMD_REFERENCE_PRODUCT_H_
#define FOOTPRINT_BASE_SIMD_REFERENCE_PRODUCT_H_

#include <cstdint>

#include "footprint/base/simd/dense_product.h"

namespace footprint {

// Multiplies `rows` rows of a matrix of `columns` columns by `panels` whole
// panels, with fused multiply-add or with two roundings.
void MultiplyPanelsReference(const MatrixView& matrix, int64_t rows,
                             int64_t columns, const PanelView& input,
                             int64_t panels, const Epilogue& epilogue,
                             const PanelOutput& output, bool fused);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_SIMD_REFERENCE_PRODUCT_H_
