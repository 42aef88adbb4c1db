// The layout of activations in memory: feature by feature, in panels of sixteen
// tokens.
//
//   const int64_t floats = PanelCount(tokens) * features * kPanelTokens;
//
// Feature f of token t is at
//   data[(t / kPanelTokens) * panel_stride + f * kPanelTokens +
//        t % kPanelTokens]
// so a vector register holds the same feature of neighbouring tokens, the
// result of one product is the input of the next, and a float weight is
// broadcast from wherever it was read: for products of several tokens in floats
// neither weights nor activations are rearranged. The last panel is padded; the
// values of its unused tokens are finite and ignored.
//
// Pure arithmetic, thread-safe.

#ifndef FOOTPRINT_LOWMEM_KERNELS_TOKEN_PANEL_H_
#define FOOTPRINT_LOWMEM_KERNELS_TOKEN_PANEL_H_

#include <cstdint>

#include "footprint/base/simd/dense_product.h"

namespace footprint {

// The columns of a panel are tokens.
inline constexpr int64_t kPanelTokens = kPanelWidth;

constexpr int64_t PanelCount(int64_t tokens) {
  return (tokens + kPanelTokens - 1) / kPanelTokens;
}

}  // namespace footprint

// Tested by token_kernels_test and matrix_product_test.

#endif  // FOOTPRINT_LOWMEM_KERNELS_TOKEN_PANEL_H_
