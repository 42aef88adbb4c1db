// Unpacks the scales and least values, six bits each, of the eight groups of a
// block of Q4_K or Q5_K.
//
//   uint64_t scales, leasts;
//   footprint::FindSixBitScales(block + 4, &scales, &leasts);
//   int third = scales >> 2 * 8 & 255;
//
// Pure and thread-safe. Memory: none. Requires a little-endian machine, because
// GGUF files are little-endian.

#ifndef FOOTPRINT_LOWMEM_KERNELS_SIX_BIT_SCALES_H_
#define FOOTPRINT_LOWMEM_KERNELS_SIX_BIT_SCALES_H_

#include <cstdint>
#include <cstring>

namespace footprint {

// Reads twelve bytes; byte i of a result belongs to group i. The first four
// bytes hold scales, and the next four least values, of groups 0 to 3 in their
// lower six bits. Their two highest bits, and the last four bytes, hold those
// of groups 4 to 7.
inline void FindSixBitScales(const uint8_t* at, uint64_t* scales,
                             uint64_t* leasts) {
  uint32_t packed[3];
  std::memcpy(packed, at, sizeof(packed));
  constexpr uint32_t kSix = 0x3f3f3f3f;
  constexpr uint32_t kFour = 0x0f0f0f0f;
  constexpr uint32_t kTwo = 0x03030303;
  const uint32_t high_scales = (packed[2] & kFour) | (packed[0] >> 6 & kTwo)
                                                         << 4;
  const uint32_t high_leasts =
      (packed[2] >> 4 & kFour) | (packed[1] >> 6 & kTwo) << 4;
  *scales = static_cast<uint64_t>(high_scales) << 32 | (packed[0] & kSix);
  *leasts = static_cast<uint64_t>(high_leasts) << 32 | (packed[1] & kSix);
}

}  // namespace footprint

// Tested by quantised_product_test.

#endif  // FOOTPRINT_LOWMEM_KERNELS_SIX_BIT_SCALES_H_
