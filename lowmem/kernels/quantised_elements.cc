#include "footprint/lowmem/kernels/quantised_elements.h"

#include <cmath>

namespace footprint {
namespace {

double Half(const uint8_t* at) {
  const int bits = at[0] | at[1] << 8;
  const int exponent = bits >> 10 & 31;
  const int fraction = bits & 1023;
  const double sign = bits >> 15 == 1 ? -1 : 1;
  return exponent == 0 ? sign * std::ldexp(fraction, -24)
                       : sign * std::ldexp(1024 + fraction, exponent - 25);
}

// The scale and the least value of group `g` of a block of Q4_K or Q5_K.
void FindSixBits(const uint8_t* packed, int g, int* scale, int* least) {
  if (g < 4) {
    *scale = packed[g] % 64;
    *least = packed[g + 4] % 64;
  } else {
    *scale = packed[g + 4] % 16 + packed[g - 4] / 64 * 16;
    *least = packed[g + 4] / 16 + packed[g] / 64 * 16;
  }
}

int Nibble(uint8_t byte, bool is_high) {
  return is_high ? byte / 16 : byte % 16;
}

}  // namespace

float QuantisedElement::value() const {
  return step * static_cast<float>(factor) * static_cast<float>(number) + least;
}

QuantisedElement ElementOf(DType type, const uint8_t* b, int e) {
  const auto d = static_cast<float>(Half(b));
  const auto second = static_cast<float>(Half(b + 2));
  const int j = e % 16;
  switch (type) {
    case DType::kQ4_0:
      return {Nibble(b[2 + j], e >= 16) - 8, d};
    case DType::kQ4_1:
      return {Nibble(b[4 + j], e >= 16), d, 1, second};
    case DType::kQ5_0: {
      const int fifth = b[2 + e / 8] >> e % 8 & 1;
      return {Nibble(b[6 + j], e >= 16) + 16 * fifth - 16, d};
    }
    case DType::kQ5_1: {
      const int fifth = b[4 + e / 8] >> e % 8 & 1;
      return {Nibble(b[8 + j], e >= 16) + 16 * fifth, d, 1, second};
    }
    case DType::kQ8_0:
      return {static_cast<int8_t>(b[2 + e]), d};
    case DType::kQ4K:
    case DType::kQ5K: {
      int scale = 0;
      int least = 0;
      FindSixBits(b + 4, e / 32, &scale, &least);
      const uint8_t* numbers = b + (type == DType::kQ4K ? 16 : 48);
      int number = Nibble(numbers[e / 64 * 32 + e % 32], e / 32 % 2 == 1);
      if (type == DType::kQ5K) number += (b[16 + e % 32] >> e / 32 & 1) * 16;
      return {number, d * static_cast<float>(scale), 1,
              -(second * static_cast<float>(least))};
    }
    default: {
      const int half = e / 128;
      const int within = e % 128;
      const int low = Nibble(b[half * 64 + within % 64], within >= 64);
      const int high = b[128 + half * 32 + within % 32] >> within / 32 * 2 & 3;
      return {low + 16 * high - 32, static_cast<float>(Half(b + 208)),
              static_cast<int8_t>(b[192 + e / 16])};
    }
  }
}

std::vector<uint8_t> RandomBlocks(std::mt19937& random, DType type,
                                  int64_t count) {
  std::vector<uint8_t> bytes(BytesOfElements(type, count));
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  const DTypeBlock block = BlockOf(type);
  const bool has_least = type == DType::kQ4_1 || type == DType::kQ5_1 ||
                         type == DType::kQ4K || type == DType::kQ5K;
  for (size_t at = 0; at < bytes.size(); at += block.bytes) {
    const size_t scale = at + (type == DType::kQ6K ? 208 : 0);
    bytes[scale + 1] = static_cast<uint8_t>(bytes[scale + 1] & 0xbb);
    if (has_least) {
      bytes[scale + 3] = static_cast<uint8_t>(bytes[scale + 3] & 0xbb);
    }
  }
  return bytes;
}

}  // namespace footprint
