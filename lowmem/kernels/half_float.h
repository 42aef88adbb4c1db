// Floats rounded to sixteen bits, to the nearest, of two as near to the even
// one.
//
//   uint16_t bits = footprint::RoundToBfloat16(0.1f);  // 0x3dcd
//
// Pure, thread-safe; nothing is allocated. The way back is WidenToFloat
// (matrix_product.h).

#ifndef FOOTPRINT_LOWMEM_KERNELS_HALF_FLOAT_H_
#define FOOTPRINT_LOWMEM_KERNELS_HALF_FLOAT_H_

#include <cstdint>

namespace footprint {

// Rounds a number that is not NaN.
uint16_t RoundToBfloat16(float value);

// IEEE 754's binary16. For finite values below 65504.
uint16_t RoundToFloat16(float value);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_KERNELS_HALF_FLOAT_H_
