#include "footprint/base/simd/each_vector_target.h"

#include <cstdint>

#include "footprint/base/simd/vector_targets.h"
#include "gtest/gtest.h"
// vector_targets.h must come first.
#include "hwy/highway.h"
#include "hwy/targets.h"

namespace footprint {
namespace {

bool HasFusedMultiplyAdd(int64_t target) {
#ifdef HWY_SSE2  // newer than Highway 1.0
  if (target == HWY_SSE2) return false;
#endif
  return target != HWY_SSE4 && target != HWY_SSSE3 && target != HWY_SCALAR &&
         target != HWY_EMU128;
}

}  // namespace

void ForEachVectorTarget(const std::function<void(bool fused)>& test) {
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    test(HasFusedMultiplyAdd(target));
  }
  hwy::SetSupportedTargetsForTest(0);
}

}  // namespace footprint
