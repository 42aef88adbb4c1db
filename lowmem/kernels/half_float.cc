#include "footprint/lowmem/kernels/half_float.h"

#include <cmath>
#include <cstring>

namespace footprint {

uint16_t RoundToBfloat16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

uint16_t RoundToHalf(float value) {
  constexpr float kBeyond = 65520.0f;
  if (std::fabs(value) < kBeyond) return RoundToFloat16(value);
  return value < 0 ? 0xfc00 : 0x7c00;
}

uint16_t RoundToFloat16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  bits &= 0x7fffffff;
  constexpr uint32_t kSmallestNormal = 113u << 23;  // 2^-14
  if (bits < kSmallestNormal) {
    // The result is a number of units of 2^-24. The processor rounds ties to
    // even.
    const float units = std::nearbyint(std::fabs(value) * 16777216.0f);
    return static_cast<uint16_t>(sign | static_cast<uint16_t>(units));
  }
  bits -= 112u << 23;  // the exponent's other bias
  bits += 0xfff + (bits >> 13 & 1);
  return static_cast<uint16_t>(sign | (bits >> 13));
}

}  // namespace footprint
