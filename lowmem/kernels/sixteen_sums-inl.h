// Adds up the sixteen sums of a row's product with one token. Sum i is over the
// columns that are i modulo 16; the sums lie in vectors of any length.
//
//   FloatVector sum[kVectors];  // sum[i] has columns i * kLanes and following
//   float total = SumLanes(sum);
//
// The file is included once for each set of vector instructions, after
// foreach_target.h.

#if defined(FOOTPRINT_LOWMEM_KERNELS_SIXTEEN_SUMS_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef FOOTPRINT_LOWMEM_KERNELS_SIXTEEN_SUMS_INL_H_
#undef FOOTPRINT_LOWMEM_KERNELS_SIXTEEN_SUMS_INL_H_
#else
#define FOOTPRINT_LOWMEM_KERNELS_SIXTEEN_SUMS_INL_H_
#endif

#include "footprint/lowmem/kernels/token_panel.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace footprint {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::CappedTag<float, kPanelTokens>;
using FloatVector = hn::Vec<FloatTag>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(FloatTag()));
constexpr int kVectors = static_cast<int>(kPanelTokens) / kLanes;
// Returns the total of sixteen sums. It adds one half to the other until one
// number is left, in registers as long as the halves are whole vectors.
HWY_INLINE float SumLanes(FloatVector (&sum)[kVectors]) {
  for (int half = kVectors / 2; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) sum[i] = hn::Add(sum[i], sum[i + half]);
  }
  HWY_ALIGN float lanes[kLanes];
  hn::Store(sum[0], FloatTag(), lanes);
  for (int half = kLanes / 2; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) lanes[i] += lanes[i + half];
  }
  return lanes[0];
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace footprint
HWY_AFTER_NAMESPACE();

// Tested by matrix_product_test and quantised_product_test.

#endif  // per target
