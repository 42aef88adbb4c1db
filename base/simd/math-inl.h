// exp and the activations on vectors, compiled once for each instruction set.
// Only kernels' files that use HWY_BEFORE_NAMESPACE and HWY_AFTER_NAMESPACE may
// include it.
//
//   FloatVector x = Exp(d, hn::Mul(hn::Sub(hn::Load(d, at), largest), factor));
//   x = Gelu(d, x);
//
// Errors, which token_kernels_test measures over all floats of the domain: Exp
// at most 2 units in the last place; the activations at most 4e-7 of the larger
// of |x| and |result|. The coefficients are minimax fits made with mpmath.
//
// Pure functions of registers, thread-safe; the only memory is that of the
// coefficients, which are constants.

#if defined(FOOTPRINT_BASE_SIMD_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOOTPRINT_BASE_SIMD_MATH_INL_H_
#undef FOOTPRINT_BASE_SIMD_MATH_INL_H_
#else
#define FOOTPRINT_BASE_SIMD_MATH_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace footprint {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Returns the sum of coefficients[i] * x^i.
template <class D, class V, size_t kCount>
HWY_INLINE V Polynomial(D d, V x, const float (&coefficients)[kCount]) {
  V sum = hn::Set(d, coefficients[kCount - 1]);
  for (size_t i = kCount - 1; i-- > 0;) {
    sum = hn::MulAdd(sum, x, hn::Set(d, coefficients[i]));
  }
  return sum;
}

// Returns exp(x) for x within [-87, 88], and the value of the nearer end
// outside it. Returns NaN for NaN, so that weights that are not numbers never
// look like a result.
template <class D, class V>
HWY_INLINE V Exp(D d, V number) {
  const hn::RebindToSigned<D> di;
  // If one argument is NaN, machines differ in which one a minimum returns, so
  // NaN is restored at the end.
  V x = hn::Min(hn::Max(number, hn::Set(d, -87.0f)), hn::Set(d, 88.0f));
  // x = n ln 2 + r. The first part of ln 2 has few bits, so n times it is
  // exact.
  const V n = hn::Round(hn::Mul(x, hn::Set(d, 1.44269504f)));
  V r = hn::NegMulAdd(n, hn::Set(d, 0.693359375f), x);
  r = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4f), r);
  static constexpr float kCoefficients[] = {
      0.49999994039535522f, 0.16666521131992340f, 0.04166838899254799f,
      0.00836871005594730f, 0.00138146104291081f};
  const V tail = Polynomial(d, r, kCoefficients);
  const V mantissa =
      hn::Add(hn::Set(d, 1.0f), hn::MulAdd(hn::Mul(r, r), tail, r));
  const auto exponent = hn::ShiftLeft<23>(
      hn::Add(hn::ConvertTo(di, n), hn::Set(di, int32_t{127})));
  return hn::IfThenElse(hn::IsNaN(number), number,
                        hn::Mul(mantissa, hn::BitCast(d, exponent)));
}

// Returns the larger of x and zero; NaN for NaN.
template <class D, class V>
HWY_INLINE V Relu(D d, V x) {
  return hn::IfThenElse(hn::IsNaN(x), x, hn::Max(x, hn::Zero(d)));
}

// Returns the share of the normal distribution below x.
template <class D, class V>
HWY_INLINE V NormalShare(D d, V x) {
  const V magnitude = hn::Abs(x);
  // The share beyond |x| is exp(-x^2 / 2) times a slowly varying function,
  // which is a polynomial in s.
  const V s = hn::Div(hn::Set(d, 1.0f), hn::MulAdd(hn::Set(d, 0.3f), magnitude,
                                                   hn::Set(d, 1.0f)));
  static constexpr float kCoefficients[] = {
      0.11968663334846497f, 0.11957283318042755f,  0.11022739112377167f,
      0.07842525839805603f, 0.09605875611305237f,  -0.07924906164407730f,
      0.19158375263214111f, -0.22806905210018158f, 0.11237642914056778f,
      -0.02061294950544834f};
  const V slow = hn::Mul(s, Polynomial(d, s, kCoefficients));
  const V half = hn::Set(d, -0.5f);
  const V beyond =
      hn::Mul(slow, Exp(d, hn::Mul(hn::Mul(magnitude, half), magnitude)));
  return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), beyond,
                        hn::Sub(hn::Set(d, 1.0f), beyond));
}

// Returns x times NormalShare(x): the "gelu" of BERT.
template <class D, class V>
HWY_INLINE V Gelu(D d, V x) {
  return hn::Mul(x, NormalShare(d, x));
}

// Returns GPT-2's approximation of Gelu: x / (1 + exp(-2 u)), which is x / 2 (1
// + tanh(u)), with u = sqrt(2 / pi) (x + 0.044715 x^3).
template <class D, class V>
HWY_INLINE V GeluTanh(D d, V x) {
  const V cubic =
      hn::MulAdd(hn::Mul(hn::Mul(x, x), hn::Set(d, 0.044715f)), x, x);
  const V power = Exp(d, hn::Mul(cubic, hn::Set(d, -1.59576912f)));
  return hn::Div(x, hn::Add(hn::Set(d, 1.0f), power));
}

// Returns x / (1 + exp(-x)), which is x times the logistic function.
template <class D, class V>
HWY_INLINE V Silu(D d, V x) {
  return hn::Div(x, hn::Add(hn::Set(d, 1.0f), Exp(d, hn::Neg(x))));
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace footprint
HWY_AFTER_NAMESPACE();

// Tested by //lowmem/kernels:matrix_product_test and
// //lowmem/kernels:token_kernels_test.

#endif  // FOOTPRINT_BASE_SIMD_MATH_INL_H_
