// Layer norm and softmax on activations in the layout of token_panel.h. Each
// token is a lane, so nothing is summed across lanes, and padding tokens do not
// affect others.
//
//   footprint::AddLayerNorm(sums, 1024, 32, {gain, bias, 1e-12f}, hidden);
//
// Sums have a fixed order (in each block of kSumBlock eight interleaved sums,
// added pairwise) that depends only on their length. Every instruction set with
// fused multiply-add gives the same bits.
//
// A NaN stays a NaN, and results that depend on it are NaNs.
//
// Error, for up to 4096 features or rows: layer norm within 2^-20 of the
// token's largest result; a result of softmax that is exp(-a) of the largest,
// within (4 + a) 2^-22 of itself.
//
// Panels must begin at a cache line. Thread-safe: the functions keep nothing
// and allocate nothing.

#ifndef FOOTPRINT_LOWMEM_KERNELS_TOKEN_KERNELS_H_
#define FOOTPRINT_LOWMEM_KERNELS_TOKEN_KERNELS_H_

#include <cstdint>

#include "footprint/base/simd/activation.h"
#include "footprint/lowmem/kernels/token_panel.h"

namespace footprint {

struct NormWeights {
  const float* gain = nullptr;
  const float* bias = nullptr;
  float epsilon = 0;
};

// hidden = norm(hidden + addend), in place; `addend` may be null. Panels of
// both are features * kPanelTokens numbers apart.
void AddLayerNorm(const float* addend, int64_t features, int64_t panels,
                  const NormWeights& weights, float* hidden);

// output = norm(input), for models that normalise before they add.
void LayerNorm(const float* input, int64_t features, int64_t panels,
               const NormWeights& weights, float* output);

// sum += addend.
void AddPanels(const float* addend, int64_t features, int64_t panels,
               float* sum);

// values *= factors, number by number.
void MultiplyPanelsBy(const float* factors, int64_t features, int64_t panels,
                      float* values);

// The keys that a panel's lanes see: lane i sees [first_begin + i, first_end +
// i).
struct SeenKeys {
  int64_t first_begin = 0;
  int64_t first_end = 0;
};

// Computes the softmax of one panel of scores, which has a row for each key:
// scores(key, lane) becomes exp(scale * scores) / sum over the lane's keys, and
// zero for keys that the lane does not see. `scale` is positive. A lane that
// sees no key gets zeros.
void ScaledSoftmax(int64_t rows, const SeenKeys& seen, float scale,
                   float* scores);

// Does the same without a window: lane i sees the keys [0, first_end + i), or
// all keys if first_end >= rows. `first_end` is at least 1.
inline void ScaledSoftmax(int64_t rows, int64_t first_end, float scale,
                          float* scores) {
  ScaledSoftmax(rows, SeenKeys{-kPanelTokens, first_end}, scale, scores);
}

// Returns whether all numbers of the first `tokens` tokens are finite. Other
// lanes of the last panel are not checked.
bool TokensAreFinite(const float* panels, int64_t features, int64_t tokens);

// Does the same for `count` contiguous numbers.
bool AreFinite(const float* values, int64_t count);

// Applies an activation to `count` numbers in place.
void Activate(Activation activation, int64_t count, float* values);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_KERNELS_TOKEN_KERNELS_H_
