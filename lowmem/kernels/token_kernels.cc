#include "footprint/lowmem/kernels/token_kernels.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>

#include "footprint/base/simd/dense_product.h"
#include "footprint/base/simd/vector_targets.h"
#include "footprint/lowmem/kernels/token_panel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lowmem/kernels/token_kernels.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// Highway's main header must come after foreach_target.h.
#include "footprint/base/simd/math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace footprint {
namespace HWY_NAMESPACE {

using FloatTag = hn::CappedTag<float, kPanelTokens>;
using FloatVector = hn::Vec<FloatTag>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(FloatTag()));
// The number of independent sums, so that additions need not wait for each
// other.
constexpr int kSums = 8;

HWY_INLINE FloatVector AddPairwise(const FloatVector (&sum)[kSums]) {
  return hn::Add(hn::Add(hn::Add(sum[0], sum[4]), hn::Add(sum[2], sum[6])),
                 hn::Add(hn::Add(sum[1], sum[5]), hn::Add(sum[3], sum[7])));
}

// Returns the sum over rows of term(row), block by block.
template <class Term>
HWY_INLINE FloatVector SumRows(int64_t rows, const Term& term) {
  FloatVector total = hn::Zero(FloatTag());
  for (int64_t row = 0; row < rows;) {
    const int64_t end = std::min(rows, row + kSumBlock);
    FloatVector sum[kSums];
    for (FloatVector& s : sum) s = hn::Zero(FloatTag());
    for (; row + kSums <= end; row += kSums) {
      for (int i = 0; i < kSums; ++i) sum[i] = hn::Add(sum[i], term(row + i));
    }
    for (int i = 0; row < end; ++row, ++i) sum[i] = hn::Add(sum[i], term(row));
    total = hn::Add(total, AddPairwise(sum));
  }
  return total;
}

HWY_INLINE FloatVector Mean(const float* column, int64_t rows) {
  const FloatTag d;
  const FloatVector sum = SumRows(rows, [=](int64_t row) HWY_ATTR {
    return hn::Load(d, column + row * kPanelTokens);
  });
  return hn::Div(sum, hn::Set(d, static_cast<float>(rows)));
}

HWY_INLINE FloatVector Variance(const float* column, int64_t rows,
                                FloatVector mean) {
  const FloatTag d;
  const FloatVector sum = SumRows(rows, [=](int64_t row) HWY_ATTR {
    const FloatVector x =
        hn::Sub(hn::Load(d, column + row * kPanelTokens), mean);
    return hn::Mul(x, x);
  });
  return hn::Div(sum, hn::Set(d, static_cast<float>(rows)));
}

// Normalises one vector's width of a panel.
HWY_INLINE void NormColumn(const float* input, int64_t features,
                           const NormWeights& weights, float* output) {
  const FloatTag d;
  const FloatVector mean = Mean(input, features);
  const FloatVector variance = Variance(input, features, mean);
  const FloatVector deviation =
      hn::Sqrt(hn::Add(variance, hn::Set(d, weights.epsilon)));
  const FloatVector scale = hn::Div(hn::Set(d, 1.0f), deviation);
  for (int64_t row = 0; row < features; ++row) {
    const FloatVector x =
        hn::Sub(hn::Load(d, input + row * kPanelTokens), mean);
    hn::Store(hn::MulAdd(hn::Mul(x, scale), hn::Set(d, weights.gain[row]),
                         hn::Set(d, weights.bias[row])),
              d, output + row * kPanelTokens);
  }
}

void AddVectors(const float* addend, int64_t count, float* sum) {
  const FloatTag d;
  for (int64_t i = 0; i < count; i += kLanes) {
    hn::Store(hn::Add(hn::Load(d, sum + i), hn::Load(d, addend + i)), d,
              sum + i);
  }
}

void NormPanels(const float* input, int64_t features, int64_t panels,
                const NormWeights& weights, float* output) {
  const int64_t panel_stride = features * kPanelTokens;
  for (int64_t panel = 0; panel < panels; ++panel) {
    for (int64_t lane = 0; lane < kPanelTokens; lane += kLanes) {
      NormColumn(input + panel * panel_stride + lane, features, weights,
                 output + panel * panel_stride + lane);
    }
  }
}

void MultiplyVectors(const float* factors, int64_t count, float* values) {
  const FloatTag d;
  for (int64_t i = 0; i < count; i += kLanes) {
    hn::Store(hn::Mul(hn::Load(d, values + i), hn::Load(d, factors + i)), d,
              values + i);
  }
}

void AddLayerNorm(const float* addend, int64_t features, int64_t panels,
                  const NormWeights& weights, float* hidden) {
  const int64_t panel_stride = features * kPanelTokens;
  for (int64_t panel = 0; panel < panels; ++panel) {
    float* at = hidden + panel * panel_stride;
    if (addend != nullptr) {
      AddVectors(addend + panel * panel_stride, panel_stride, at);
    }
    NormPanels(at, features, 1, weights, at);
  }
}

// Returns which of the lanes from `first_lane` on see key `row`.
HWY_INLINE hn::Mask<FloatTag> Sees(int64_t row, const SeenKeys& seen,
                                   int64_t first_lane) {
  const FloatTag d;
  const FloatVector lane = hn::Iota(d, static_cast<float>(first_lane));
  return hn::And(
      hn::Gt(lane, hn::Set(d, static_cast<float>(row - seen.first_end))),
      hn::Le(lane, hn::Set(d, static_cast<float>(row - seen.first_begin))));
}

HWY_INLINE void SoftmaxColumn(int64_t rows, const SeenKeys& seen,
                              int64_t first_lane, float scale, float* scores) {
  const FloatTag d;
  const FloatVector factor = hn::Set(d, scale);
  // Every lane sees the keys from `common_begin` to `common_end`.
  const int64_t common_begin = seen.first_begin + first_lane + kLanes - 1;
  const int64_t common_end = std::min(rows, seen.first_end + first_lane);
  const auto all_see = [=](int64_t row) HWY_ATTR {
    return row >= common_begin && row < common_end;
  };
  FloatVector largest = all_see(0)
                            ? hn::Load(d, scores)
                            : hn::Set(d, std::numeric_limits<float>::lowest());
  for (int64_t row = 0; row < rows; ++row) {
    const FloatVector x = hn::Load(d, scores + row * kPanelTokens);
    const FloatVector larger = hn::Max(largest, x);
    largest = all_see(row) ? larger
                           : hn::IfThenElse(Sees(row, seen, first_lane), larger,
                                            largest);
  }
  const FloatVector sum = SumRows(rows, [=](int64_t row) HWY_ATTR {
    float* at = scores + row * kPanelTokens;
    FloatVector x = Exp(d, hn::Mul(hn::Sub(hn::Load(d, at), largest), factor));
    if (!all_see(row)) {
      x = hn::IfThenElseZero(Sees(row, seen, first_lane), x);
    }
    hn::Store(x, d, at);
    return x;
  });
  // A padding lane may see no key at all; its scores are zero already.
  const FloatVector share = hn::IfThenElse(hn::Eq(sum, hn::Zero(d)), sum,
                                           hn::Div(hn::Set(d, 1.0f), sum));
  for (int64_t row = 0; row < rows; ++row) {
    float* at = scores + row * kPanelTokens;
    hn::Store(hn::Mul(hn::Load(d, at), share), d, at);
  }
}

void ScaledSoftmax(int64_t rows, const SeenKeys& seen, float scale,
                   float* scores) {
  for (int64_t lane = 0; lane < kPanelTokens; lane += kLanes) {
    SoftmaxColumn(rows, seen, lane, scale, scores + lane);
  }
}

// Returns zero if every row of the lane is finite, else NaN.
HWY_INLINE FloatVector SumOfZeros(const float* column, int64_t rows) {
  const FloatTag d;
  return SumRows(rows, [=](int64_t row) HWY_ATTR {
    return hn::Mul(hn::Load(d, column + row * kPanelTokens), hn::Zero(d));
  });
}

bool TokensAreFinite(const float* panels, int64_t features, int64_t tokens) {
  HWY_ALIGN float zeros[kPanelTokens];
  for (int64_t first = 0; first < tokens; first += kPanelTokens) {
    for (int64_t lane = 0; lane < kPanelTokens; lane += kLanes) {
      hn::Store(SumOfZeros(panels + first * features + lane, features),
                FloatTag(), zeros + lane);
    }
    const int64_t count = std::min(kPanelTokens, tokens - first);
    for (int64_t lane = 0; lane < count; ++lane) {
      if (zeros[lane] != 0) return false;
    }
  }
  return true;
}

bool AreFinite(const float* values, int64_t count) {
  const int64_t rows = count / kPanelTokens;
  float sum = 0;
  for (int64_t i = rows * kPanelTokens; i < count; ++i) sum += values[i] * 0;
  const FloatTag d;
  for (int64_t lane = 0; lane < kPanelTokens; lane += kLanes) {
    const FloatVector zeros = SumRows(rows, [=](int64_t row) HWY_ATTR {
      return hn::Mul(hn::LoadU(d, values + row * kPanelTokens + lane),
                     hn::Zero(d));
    });
    sum += hn::GetLane(hn::SumOfLanes(d, zeros));
  }
  return sum == 0;
}

template <Activation kActivation>
void ActivateAll(int64_t count, float* values) {
  const FloatTag d;
  const auto apply = [d](FloatVector x) HWY_ATTR {
    if (kActivation == Activation::kGelu) return Gelu(d, x);
    if (kActivation == Activation::kGeluTanh) return GeluTanh(d, x);
    if (kActivation == Activation::kSilu) return Silu(d, x);
    return Relu(d, x);
  };
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    hn::StoreU(apply(hn::LoadU(d, values + i)), d, values + i);
  }
  if (i == count) return;
  HWY_ALIGN float tail[kPanelTokens] = {};
  std::memcpy(tail, values + i, (count - i) * sizeof(float));
  hn::Store(apply(hn::Load(d, tail)), d, tail);
  std::memcpy(values + i, tail, (count - i) * sizeof(float));
}

void Activate(Activation activation, int64_t count, float* values) {
  switch (activation) {
    case Activation::kNone:
      break;
    case Activation::kGelu:
      ActivateAll<Activation::kGelu>(count, values);
      break;
    case Activation::kGeluTanh:
      ActivateAll<Activation::kGeluTanh>(count, values);
      break;
    case Activation::kRelu:
      ActivateAll<Activation::kRelu>(count, values);
      break;
    case Activation::kSilu:
      ActivateAll<Activation::kSilu>(count, values);
      break;
  }
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace footprint
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace footprint {

HWY_EXPORT(NormPanels);
HWY_EXPORT(AddLayerNorm);
HWY_EXPORT(AddVectors);
HWY_EXPORT(MultiplyVectors);
HWY_EXPORT(ScaledSoftmax);
HWY_EXPORT(TokensAreFinite);
HWY_EXPORT(AreFinite);
HWY_EXPORT(Activate);

void AddLayerNorm(const float* addend, int64_t features, int64_t panels,
                  const NormWeights& weights, float* hidden) {
  HWY_DYNAMIC_DISPATCH(AddLayerNorm)
  (addend, features, panels, weights, hidden);
}

void LayerNorm(const float* input, int64_t features, int64_t panels,
               const NormWeights& weights, float* output) {
  HWY_DYNAMIC_DISPATCH(NormPanels)(input, features, panels, weights, output);
}

void AddPanels(const float* addend, int64_t features, int64_t panels,
               float* sum) {
  HWY_DYNAMIC_DISPATCH(AddVectors)
  (addend, features * panels * kPanelTokens, sum);
}

void MultiplyPanelsBy(const float* factors, int64_t features, int64_t panels,
                      float* values) {
  HWY_DYNAMIC_DISPATCH(MultiplyVectors)
  (factors, features * panels * kPanelTokens, values);
}

void ScaledSoftmax(int64_t rows, const SeenKeys& seen, float scale,
                   float* scores) {
  HWY_DYNAMIC_DISPATCH(ScaledSoftmax)(rows, seen, scale, scores);
}

bool TokensAreFinite(const float* panels, int64_t features, int64_t tokens) {
  return HWY_DYNAMIC_DISPATCH(TokensAreFinite)(panels, features, tokens);
}

bool AreFinite(const float* values, int64_t count) {
  return HWY_DYNAMIC_DISPATCH(AreFinite)(values, count);
}

void Activate(Activation activation, int64_t count, float* values) {
  HWY_DYNAMIC_DISPATCH(Activate)(activation, count, values);
}

}  // namespace footprint
#endif  // HWY_ONCE
