// How activations lie in memory: feature-major, in panels of sixteen tokens.
//
// Feature f of token t is at
//   data[(t / kPanelTokens) * panel_stride + f * kPanelTokens + t %
//   kPanelTokens]
// so a vector register holds the same feature of neighbouring tokens, the
// result of one product is the input of the next, and a weight is broadcast
// from wherever it was read: neither weights nor activations are ever
// rearranged. The last panel is padded; what its unused tokens hold is finite
// and ignored.

#ifndef FOOTPRINT_LOWMEM_KERNELS_TOKEN_PANEL_H_
#define FOOTPRINT_LOWMEM_KERNELS_TOKEN_PANEL_H_

#include <cstdint>

namespace footprint {

// One cache line, one AVX-512 register, two of AVX2, four of NEON.
inline constexpr int64_t kPanelTokens = 16;

// Every long sum is made of sums over this many neighbouring columns, each
// from the first to the last, added in the order of the blocks. A matrix may be
// cut between columns only at multiples of it: then the result does not depend
// on how it was cut.
inline constexpr int64_t kSumBlock = 256;

constexpr int64_t PanelCount(int64_t tokens) {
  return (tokens + kPanelTokens - 1) / kPanelTokens;
}

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_KERNELS_TOKEN_PANEL_H_
