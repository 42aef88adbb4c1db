// The RMS norm of tokens and of heads (Zhang and Sennrich, 2019), and the
// rotation of queries and keys that tells a token's position (RoPE; Su et al.,
// 2021).
//
//   footprint::RmsNorm(2048, panels, gain, 1e-6f, states, normed);
//   const HeadView head = {queries, kPanelTokens, kPanelTokens};
//   footprint::NormaliseHead(64, gain, 1e-6f, head);
//   footprint::RotateHead({cosines, sines, 32}, head);
//
// A head is one feature in each row; its lanes are tokens. The functions for
// heads work in place, on queries in panels and on keys in the cache.
//
// The norms sum as the norms of token_kernels.h do. RotateHead turns pairs of
// features: (i, i + pairs), or neighbours (2 i, 2 i + 1). A pair (a, b) becomes
// (a cos - b sin, b cos + a sin), each with one product rounded before a fused
// multiply-add. Features beyond 2 * pairs stay as they are. A lane has the same
// bits whether it is alone or one of a panel's.
//
// Thread-safe: the functions keep nothing and allocate nothing.

#ifndef FOOTPRINT_LOWMEM_KERNELS_HEAD_KERNELS_H_
#define FOOTPRINT_LOWMEM_KERNELS_HEAD_KERNELS_H_

#include <cstdint>

#include "footprint/lowmem/kernels/token_panel.h"

namespace footprint {

// Feature f of lane i is at data[f * feature_stride + i]. There is either one
// lane, or kPanelTokens lanes with `data` at a multiple of a panel's row.
struct HeadView {
  float* data = nullptr;
  int64_t feature_stride = kPanelTokens;
  int64_t lanes = kPanelTokens;
};

// The cosines and sines of a panel's tokens: those of pair p and lane i are at
// [p * kPanelTokens + i].
struct RotaryAngles {
  const float* cosines = nullptr;
  const float* sines = nullptr;
  int64_t pairs = 0;
  // True if pairs are adjacent features, as in GGUF files of Llama's kind,
  // whose rows of queries and keys have another order.
  bool are_neighbours = false;
};

// output = gain * input / sqrt(mean of squares + epsilon), for each token of
// the panels. `output` may be `input`.
void RmsNorm(int64_t features, int64_t panels, const float* gain, float epsilon,
             const float* input, float* output);

// x = gain * x / sqrt(mean of squares + epsilon) for each lane.
void NormaliseHead(int64_t features, const float* gain, float epsilon,
                   const HeadView& head);

void RotateHead(const RotaryAngles& angles, const HeadView& head);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_KERNELS_HEAD_KERNELS_H_
