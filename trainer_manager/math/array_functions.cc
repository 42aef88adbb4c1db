#include "footprint/trainer_manager/math/array_functions.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "footprint/base/simd/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "trainer_manager/math/array_functions.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// Highway's main header must come after foreach_target.h.
#include "footprint/base/simd/math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace footprint {
namespace HWY_NAMESPACE {

// Sums use sixteen lanes on every machine, so that their order is the same.
constexpr int kValues = 16;
using Tag = hn::CappedTag<float, kValues>;
using Vector = hn::Vec<Tag>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(Tag()));

// Returns exp(x), but NaN for NaN and infinity for positive infinity.
HWY_INLINE Vector ComputeExp(Vector x) {
  const Tag d;
  const auto ordinary =
      hn::Le(x, hn::Set(d, std::numeric_limits<float>::max()));
  return hn::IfThenElse(ordinary, Exp(d, x), x);
}

// Calls step(pointers...) for each vector of the first `count` values, and with
// padded copies for the last vector.
template <class Step>
HWY_INLINE void ForEachVector(const float* first, const float* second,
                              int64_t count, float* results, const Step& step) {
  const Tag d;
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    hn::StoreU(step(hn::LoadU(d, first + i), hn::LoadU(d, second + i)), d,
               results + i);
  }
  if (i == count) return;
  HWY_ALIGN float padded[2][kValues] = {};
  std::copy(first + i, first + count, padded[0]);
  std::copy(second + i, second + count, padded[1]);
  hn::Store(step(hn::Load(d, padded[0]), hn::Load(d, padded[1])), d, padded[0]);
  std::copy(padded[0], padded[0] + (count - i), results + i);
}

// Returns the sum of term(first, second) over blocks of 16 values. The last
// block is padded with `padding`.
template <class Term>
HWY_INLINE float SumTerms(const float* first, const float* second,
                          int64_t count, float padding, const Term& term) {
  const Tag d;
  Vector sum[kValues / kLanes];
  for (Vector& s : sum) s = hn::Zero(d);
  const auto add = [&](const float* a, const float* b) HWY_ATTR {
    for (int v = 0; v < kValues / kLanes; ++v) {
      sum[v] = term(hn::LoadU(d, a + v * kLanes), hn::LoadU(d, b + v * kLanes),
                    sum[v]);
    }
  };
  int64_t i = 0;
  for (; i + kValues <= count; i += kValues) add(first + i, second + i);
  if (i < count) {
    HWY_ALIGN float padded[2][kValues];
    std::fill(padded[0], padded[0] + 2 * kValues, padding);
    std::copy(first + i, first + count, padded[0]);
    std::copy(second + i, second + count, padded[1]);
    add(padded[0], padded[1]);
  }
  HWY_ALIGN float parts[kValues];
  for (int v = 0; v < kValues / kLanes; ++v) {
    hn::Store(sum[v], d, parts + v * kLanes);
  }
  for (int width = kValues / 2; width > 0; width /= 2) {
    for (int p = 0; p < width; ++p) parts[p] += parts[p + width];
  }
  return parts[0];
}

double LogSumExp(const float* values, int64_t count) {
  const Tag d;
  const float largest = *std::max_element(values, values + count);
  const Vector shift = hn::Set(d, largest);
  const float sum = SumTerms(
      values, values, count, -std::numeric_limits<float>::infinity(),
      [=](Vector x, Vector, Vector total)
          HWY_ATTR { return hn::Add(total, ComputeExp(hn::Sub(x, shift))); });
  return static_cast<double>(largest) + std::log(static_cast<double>(sum));
}

void ExpDifferences(const float* values, int64_t count, float subtrahend,
                    float* results) {
  const Vector shift = hn::Set(Tag(), subtrahend);
  ForEachVector(values, values, count, results, [=](Vector x, Vector) HWY_ATTR {
    return ComputeExp(hn::Sub(x, shift));
  });
}

float DotProduct(const float* left, const float* right, int64_t count) {
  return SumTerms(left, right, count, 0.0f,
                  [](Vector a, Vector b, Vector total)
                      HWY_ATTR { return hn::MulAdd(a, b, total); });
}

void ComputeGelu(const float* values, int64_t count, float* results) {
  ForEachVector(values, values, count, results,
                [](Vector x, Vector) HWY_ATTR { return Gelu(Tag(), x); });
}

void TimesGeluSlope(const float* factors, const float* values, int64_t count,
                    float* results) {
  ForEachVector(
      factors, values, count, results, [](Vector factor, Vector x) HWY_ATTR {
        const Tag d;
        const Vector half = hn::Mul(x, hn::Set(d, -0.5f));
        const Vector density =
            hn::Mul(Exp(d, hn::Mul(half, x)), hn::Set(d, 0.39894228040143268f));
        return hn::Mul(factor, hn::MulAdd(x, density, NormalShare(d, x)));
      });
}

void TimesReluSlope(const float* factors, const float* values, int64_t count,
                    float* results) {
  ForEachVector(
      factors, values, count, results, [](Vector factor, Vector x) HWY_ATTR {
        const Tag d;
        const Vector slope = hn::IfThenElse(
            hn::Gt(x, hn::Zero(d)), hn::Set(d, 1.0f), hn::Mul(hn::Zero(d), x));
        return hn::Mul(factor, slope);
      });
}

void ComputeSigmoid(const float* values, int64_t count, float* results) {
  ForEachVector(values, values, count, results, [](Vector x, Vector) HWY_ATTR {
    const Tag d;
    const Vector one = hn::Set(d, 1.0f);
    return hn::Div(one, hn::Add(one, Exp(d, hn::Neg(x))));
  });
}

void TimesSigmoidSlope(const float* factors, const float* outputs,
                       int64_t count, float* results) {
  ForEachVector(factors, outputs, count, results,
                [](Vector factor, Vector y) HWY_ATTR {
                  return hn::Mul(factor, hn::NegMulAdd(y, y, y));
                });
}

HWY_INLINE Vector SigmoidOfVector(Vector x) {
  const Tag d;
  const Vector one = hn::Set(d, 1.0f);
  return hn::Div(one, hn::Add(one, Exp(d, hn::Neg(x))));
}

void ComputeSilu(const float* values, int64_t count, float* results) {
  ForEachVector(values, values, count, results, [](Vector x, Vector) HWY_ATTR {
    return hn::Mul(x, SigmoidOfVector(x));
  });
}

// s (1 + x (1 - s)), where s is the sigmoid of x.
void TimesSiluSlope(const float* factors, const float* values, int64_t count,
                    float* results) {
  ForEachVector(
      factors, values, count, results, [](Vector factor, Vector x) HWY_ATTR {
        const Tag d;
        const Vector one = hn::Set(d, 1.0f);
        const Vector s = SigmoidOfVector(x);
        const Vector slope = hn::Mul(s, hn::MulAdd(x, hn::Sub(one, s), one));
        return hn::Mul(factor, slope);
      });
}

// Near 0 this is a polynomial fitted for the least maximal relative error
// (4e-9). Elsewhere it is 1 - 2 / (exp(2 |x|) + 1), which would cancel near 0.
HWY_INLINE Vector TanhOfVector(Vector x) {
  const Tag d;
  const Vector one = hn::Set(d, 1.0f);
  const Vector two = hn::Set(d, 2.0f);
  const Vector magnitude = hn::Abs(x);
  static constexpr float kCoefficients[] = {
      -0.33333280682563782f, 0.13331441581249237f, -0.05373971536755562f,
      0.02063908800482750f, -0.00570498686283827f};
  const Vector square = hn::Mul(x, x);
  const Vector near =
      hn::MulAdd(hn::Mul(square, Polynomial(d, square, kCoefficients)), x, x);
  const Vector far =
      hn::Sub(one, hn::Div(two, hn::Add(Exp(d, hn::Mul(magnitude, two)), one)));
  // Keeps the sign of -0 as well.
  return hn::CopySign(
      hn::IfThenElse(hn::Lt(magnitude, hn::Set(d, 0.625f)), near, far), x);
}

void ComputeTanh(const float* values, int64_t count, float* results) {
  ForEachVector(values, values, count, results,
                [](Vector x, Vector) HWY_ATTR { return TanhOfVector(x); });
}

void TimesTanhSlope(const float* factors, const float* outputs, int64_t count,
                    float* results) {
  ForEachVector(
      factors, outputs, count, results, [](Vector factor, Vector y) HWY_ATTR {
        return hn::Mul(factor, hn::NegMulAdd(y, y, hn::Set(Tag(), 1.0f)));
      });
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace footprint
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace footprint {

HWY_EXPORT(LogSumExp);
HWY_EXPORT(ExpDifferences);
HWY_EXPORT(DotProduct);
HWY_EXPORT(ComputeGelu);
HWY_EXPORT(TimesGeluSlope);
HWY_EXPORT(TimesReluSlope);
HWY_EXPORT(ComputeSigmoid);
HWY_EXPORT(TimesSigmoidSlope);
HWY_EXPORT(ComputeSilu);
HWY_EXPORT(TimesSiluSlope);
HWY_EXPORT(ComputeTanh);
HWY_EXPORT(TimesTanhSlope);

double LogSumExp(const float* values, int64_t count) {
  return HWY_DYNAMIC_DISPATCH(LogSumExp)(values, count);
}
void ExpDifferences(const float* values, int64_t count, float subtrahend,
                    float* results) {
  HWY_DYNAMIC_DISPATCH(ExpDifferences)(values, count, subtrahend, results);
}
float DotProduct(const float* left, const float* right, int64_t count) {
  return HWY_DYNAMIC_DISPATCH(DotProduct)(left, right, count);
}
void ComputeGelu(const float* values, int64_t count, float* results) {
  HWY_DYNAMIC_DISPATCH(ComputeGelu)(values, count, results);
}
void TimesGeluSlope(const float* factors, const float* values, int64_t count,
                    float* results) {
  HWY_DYNAMIC_DISPATCH(TimesGeluSlope)(factors, values, count, results);
}
void TimesReluSlope(const float* factors, const float* values, int64_t count,
                    float* results) {
  HWY_DYNAMIC_DISPATCH(TimesReluSlope)(factors, values, count, results);
}
void ComputeSigmoid(const float* values, int64_t count, float* results) {
  HWY_DYNAMIC_DISPATCH(ComputeSigmoid)(values, count, results);
}
void TimesSigmoidSlope(const float* factors, const float* outputs,
                       int64_t count, float* results) {
  HWY_DYNAMIC_DISPATCH(TimesSigmoidSlope)(factors, outputs, count, results);
}
void ComputeSilu(const float* values, int64_t count, float* results) {
  HWY_DYNAMIC_DISPATCH(ComputeSilu)(values, count, results);
}
void TimesSiluSlope(const float* factors, const float* values, int64_t count,
                    float* results) {
  HWY_DYNAMIC_DISPATCH(TimesSiluSlope)(factors, values, count, results);
}
void ComputeTanh(const float* values, int64_t count, float* results) {
  HWY_DYNAMIC_DISPATCH(ComputeTanh)(values, count, results);
}
void TimesTanhSlope(const float* factors, const float* outputs, int64_t count,
                    float* results) {
  HWY_DYNAMIC_DISPATCH(TimesTanhSlope)(factors, outputs, count, results);
}

}  // namespace footprint
#endif  // HWY_ONCE
