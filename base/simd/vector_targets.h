// The instruction sets that kernels are compiled for. A file that is compiled
// for more than one includes this header before Highway.
//
//   #include "footprint/base/simd/vector_targets.h"
//   // After vector_targets.h.
//   #include "hwy/highway.h"
//
// Vectors whose width is not known to the compiler (SVE, RISC-V) cannot be kept
// in arrays, as the kernels do; such machines run NEON or plain code. SSSE3
// machines without SSE4 run plain code, or SSE2's where Highway has that. The
// plain code is there on every machine so that its tests run.

#ifndef FOOTPRINT_BASE_SIMD_VECTOR_TARGETS_H_
#define FOOTPRINT_BASE_SIMD_VECTOR_TARGETS_H_

#define HWY_DISABLED_TARGETS \
  (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV | HWY_SSSE3)
#define HWY_COMPILE_ALL_ATTAINABLE

// Tested by dense_tile_test.

#endif  // FOOTPRINT_BASE_SIMD_VECTOR_TARGETS_H_
