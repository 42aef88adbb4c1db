// The instruction sets that kernels are compiled for. A file that is compiled
// for more than one must include this header before Highway.
//
//   #include "footprint/base/simd/vector_targets.h"
//   #include "hwy/highway.h"
//
// The kernels keep vectors in arrays, which is impossible if the compiler does
// not know their width (SVE, RISC-V); such machines run NEON or plain code.
// Machines with SSSE3 but without SSE4 run plain code, or SSE2 code if Highway
// has it. The plain code exists on every machine, so that its tests run.

#ifndef FOOTPRINT_BASE_SIMD_VECTOR_TARGETS_H_
#define FOOTPRINT_BASE_SIMD_VECTOR_TARGETS_H_

#define HWY_DISABLED_TARGETS \
  (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV | HWY_SSSE3)
#define HWY_COMPILE_ALL_ATTAINABLE

// Tested by dense_tile_test.

#endif  // FOOTPRINT_BASE_SIMD_VECTOR_TARGETS_H_
