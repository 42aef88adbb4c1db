#include "footprint/lowmem/kernels/head_kernels.h"

#include <algorithm>

#include "footprint/base/simd/dense_product.h"
#include "footprint/base/simd/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lowmem/kernels/head_kernels.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// Highway's main header must come after foreach_target.h.
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace footprint {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The number of independent sums, as in token_kernels.cc.
constexpr int kSums = 8;

template <class D>
HWY_INLINE hn::Vec<D> SumOfSquares(D d, const float* column, int64_t features,
                                   int64_t stride) {
  using V = hn::Vec<D>;
  V total = hn::Zero(d);
  for (int64_t row = 0; row < features;) {
    const int64_t end = std::min(features, row + kSumBlock);
    V sum[kSums];
    for (V& s : sum) s = hn::Zero(d);
    for (; row < end;) {
      for (int i = 0; i < kSums && row < end; ++i, ++row) {
        const V x = hn::LoadU(d, column + row * stride);
        sum[i] = hn::Add(sum[i], hn::Mul(x, x));
      }
    }
    total = hn::Add(
        total,
        hn::Add(hn::Add(hn::Add(sum[0], sum[4]), hn::Add(sum[2], sum[6])),
                hn::Add(hn::Add(sum[1], sum[5]), hn::Add(sum[3], sum[7]))));
  }
  return total;
}

template <class D>
HWY_INLINE void NormaliseLanes(D d, int64_t features, const float* gain,
                               float epsilon, int64_t stride,
                               const float* input, float* output) {
  const auto mean = hn::Div(SumOfSquares(d, input, features, stride),
                            hn::Set(d, static_cast<float>(features)));
  const auto scale =
      hn::Div(hn::Set(d, 1.0f), hn::Sqrt(hn::Add(mean, hn::Set(d, epsilon))));
  for (int64_t row = 0; row < features; ++row) {
    const auto x = hn::LoadU(d, input + row * stride);
    hn::StoreU(hn::Mul(hn::Mul(x, scale), hn::Set(d, gain[row])), d,
               output + row * stride);
  }
}

template <class D>
HWY_INLINE void RotateLanes(D d, const RotaryAngles& angles, int64_t lane,
                            int64_t stride, float* column) {
  const int64_t step = angles.are_neighbours ? 2 : 1;
  const int64_t between = angles.are_neighbours ? 1 : angles.pairs;
  for (int64_t pair = 0; pair < angles.pairs; ++pair) {
    float* const first = column + pair * step * stride;
    float* const second = first + between * stride;
    const auto cosine =
        hn::LoadU(d, angles.cosines + pair * kPanelTokens + lane);
    const auto sine = hn::LoadU(d, angles.sines + pair * kPanelTokens + lane);
    const auto a = hn::LoadU(d, first);
    const auto b = hn::LoadU(d, second);
    hn::StoreU(hn::NegMulAdd(b, sine, hn::Mul(a, cosine)), d, first);
    hn::StoreU(hn::MulAdd(a, sine, hn::Mul(b, cosine)), d, second);
  }
}

// Calls act(tag, lane) for vectors that cover the head's lanes.
template <class Act>
HWY_INLINE void ForEachVector(int64_t lanes, const Act& act) {
  if (lanes == 1) {
    act(hn::CappedTag<float, 1>(), 0);
    return;
  }
  const hn::CappedTag<float, kPanelTokens> d;
  for (int64_t lane = 0; lane < lanes;
       lane += static_cast<int64_t>(hn::Lanes(d))) {
    act(d, lane);
  }
}

void NormaliseHead(int64_t features, const float* gain, float epsilon,
                   const HeadView& head) {
  ForEachVector(head.lanes, [&](auto d, int64_t lane) HWY_ATTR {
    NormaliseLanes(d, features, gain, epsilon, head.feature_stride,
                   head.data + lane, head.data + lane);
  });
}

void RmsNorm(int64_t features, int64_t panels, const float* gain, float epsilon,
             const float* input, float* output) {
  const int64_t panel_floats = features * kPanelTokens;
  for (int64_t first = 0; first < panels * panel_floats;
       first += panel_floats) {
    ForEachVector(kPanelTokens, [&](auto d, int64_t lane) HWY_ATTR {
      NormaliseLanes(d, features, gain, epsilon, kPanelTokens,
                     input + first + lane, output + first + lane);
    });
  }
}

void RotateHead(const RotaryAngles& angles, const HeadView& head) {
  ForEachVector(head.lanes, [&](auto d, int64_t lane) HWY_ATTR {
    RotateLanes(d, angles, lane, head.feature_stride, head.data + lane);
  });
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace footprint
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace footprint {

HWY_EXPORT(RmsNorm);
HWY_EXPORT(NormaliseHead);
HWY_EXPORT(RotateHead);

void RmsNorm(int64_t features, int64_t panels, const float* gain, float epsilon,
             const float* input, float* output) {
  HWY_DYNAMIC_DISPATCH(RmsNorm)
  (features, panels, gain, epsilon, input, output);
}

void NormaliseHead(int64_t features, const float* gain, float epsilon,
                   const HeadView& head) {
  HWY_DYNAMIC_DISPATCH(NormaliseHead)(features, gain, epsilon, head);
}

void RotateHead(const RotaryAngles& angles, const HeadView& head) {
  HWY_DYNAMIC_DISPATCH(RotateHead)(angles, head);
}

}  // namespace footprint
#endif  // HWY_ONCE
