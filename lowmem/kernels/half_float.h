// Floats rounded to sixteen bits, to the nearest, of two as near to the even
// one.
//
//   uint16_t bits = footprint::RoundToBfloat16(0.1f);  // 0x3dcd
//
// Pure, thread-safe; nothing is allocated. The way back of many is WidenToFloat
// (matrix_product.h).

#ifndef FOOTPRINT_LOWMEM_KERNELS_HALF_FLOAT_H_
#define FOOTPRINT_LOWMEM_KERNELS_HALF_FLOAT_H_

#include <cstdint>
#include <cstring>

namespace footprint {

// Rounds a number that is not NaN.
uint16_t RoundToBfloat16(float value);

// IEEE 754's binary16. For finite values below 65504.
uint16_t RoundToFloat16(float value);

// The same for any number: beyond the largest binary16 is infinity, and so is
// a NaN.
uint16_t RoundToHalf(float value);

// Returns the float that a binary16 is; infinities and NaNs stay.
inline float WidenFloat16(uint16_t half) {
  constexpr uint32_t kMoreFractions = 8192;  // of a float for one of a half
  uint32_t bits = (half & 0x7fffu) * kMoreFractions;
  float value;
  if (bits >= 0x0f800000) {
    bits |= 0x7f800000;
    std::memcpy(&value, &bits, sizeof(value));
  } else {
    std::memcpy(&value, &bits, sizeof(value));
    value *= 0x1p112f;  // the exponents' biases differ by 112
  }
  return (half & 0x8000) != 0 ? -value : value;
}

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_KERNELS_HALF_FLOAT_H_
