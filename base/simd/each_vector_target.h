// Runs a test once for every instruction set that the kernels are compiled for
// and that this machine has.
//
//   footprint::ForEachVectorTarget([](bool fused) { EXPECT_...; });
//
// ForEachVectorTarget is not thread-safe, because the process has one choice of
// instruction set. It calls `test` before it returns, and keeps nothing.
// Memory: what `test` needs.

#ifndef FOOTPRINT_BASE_SIMD_EACH_VECTOR_TARGET_H_
#define FOOTPRINT_BASE_SIMD_EACH_VECTOR_TARGET_H_

#include <functional>

namespace footprint {

// `fused` says whether the instruction set has fused multiply-add, on which the
// bits of results depend. Failures name the instruction set.
void ForEachVectorTarget(const std::function<void(bool fused)>& test);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_SIMD_EACH_VECTOR_TARGET_H_
