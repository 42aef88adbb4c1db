// Runs a test once on every instruction set that the kernels are compiled for
// and this machine has.
//
//   footprint::ForEachVectorTarget([](bool fused) { EXPECT_...; });
//
// Not thread-safe: what kernels run on is one choice for the process. `test` is
// called before the function returns, and nothing is kept. Memory: what `test`
// needs.

#ifndef FOOTPRINT_BASE_SIMD_EACH_VECTOR_TARGET_H_
#define FOOTPRINT_BASE_SIMD_EACH_VECTOR_TARGET_H_

#include <functional>

namespace footprint {

// `fused` is whether the instruction set has fused multiply-add, which decides
// whether its bits are those of the others. Failures name the instruction set.
void ForEachVectorTarget(const std::function<void(bool fused)>& test);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_SIMD_EACH_VECTOR_TARGET_H_
