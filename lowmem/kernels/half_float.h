// Rounds floats to sixteen bits: to the nearest value, ties to even.
//
//   uint16_t bits = footprint::RoundToBfloat16(0.1f);  // 0x3dcd
//
// Pure, thread-safe; nothing is allocated. WidenToFloat (matrix_product.h)
// converts many numbers back.

#ifndef FOOTPRINT_LOWMEM_KERNELS_HALF_FLOAT_H_
#define FOOTPRINT_LOWMEM_KERNELS_HALF_FLOAT_H_

#include <cstdint>
#include <cstring>

namespace footprint {

// Rounds a number that is not NaN.
uint16_t RoundToBfloat16(float value);

// Rounds to IEEE 754's binary16. The magnitude must be below 65520.
uint16_t RoundToFloat16(float value);

// Does the same for any number. Numbers of a larger magnitude and NaNs become
// infinity.
uint16_t RoundToHalf(float value);

// Returns the value of a binary16 as a float; infinities and NaNs stay.
inline float WidenFloat16(uint16_t half) {
  // A float's fraction has 13 more bits.
  constexpr uint32_t kMoreFractions = 8192;
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
