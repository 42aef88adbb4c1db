#include "footprint/lowmem/kernels/half_float.h"

#include <cmath>
#include <cstdint>

#include "gtest/gtest.h"

namespace footprint {
namespace {

struct Format {
  const char* name;
  uint16_t (*round)(float);
  int exponent_bits;
  uint16_t largest;  // finite, or below what may be rounded
};
constexpr Format kFormats[] = {{"bfloat16", RoundToBfloat16, 8, 0x7f7f},
                               {"float16", RoundToFloat16, 5, 0x7bfe}};

// Returns the bits of a 16-bit float as a number, by the definition of the
// format.
double FromHalf(uint16_t bits, int exponent_bits) {
  const int fraction_bits = 15 - exponent_bits;
  const int exponent = bits >> fraction_bits & ((1 << exponent_bits) - 1);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const double fraction = bits & ((1 << fraction_bits) - 1);
  const double magnitude = exponent == 0
                               ? std::ldexp(fraction, 1 - bias - fraction_bits)
                               : std::ldexp(fraction + (1 << fraction_bits),
                                            exponent - bias - fraction_bits);
  return bits >> 15 ? -magnitude : magnitude;
}

TEST(HalfFloatTest, HalvesStay) {
  for (const Format& format : kFormats) {
    for (uint16_t half = 0; half <= format.largest; ++half) {
      for (const int sign : {0, 0x8000}) {
        const auto bits = static_cast<uint16_t>(half | sign);
        const double value = FromHalf(bits, format.exponent_bits);
        ASSERT_EQ(format.round(static_cast<float>(value)), bits)
            << format.name << " " << value;
      }
    }
  }
}

// Tests between all neighbours: the midpoint goes to the even one, and a number
// slightly to one side goes to that side.
TEST(HalfFloatTest, TheNearestIsTakenAndOfTwoTheEven) {
  for (const Format& format : kFormats) {
    for (uint16_t half = 0; half < format.largest; ++half) {
      const auto next = static_cast<uint16_t>(half + 1);
      const double low = FromHalf(half, format.exponent_bits);
      const double high = FromHalf(next, format.exponent_bits);
      const auto middle = static_cast<float>((low + high) / 2);
      ASSERT_EQ(middle, (low + high) / 2);
      const uint16_t even = half % 2 == 0 ? half : next;
      ASSERT_EQ(format.round(middle), even) << format.name << " " << middle;
      ASSERT_EQ(format.round(-middle), even | 0x8000) << format.name;
      ASSERT_EQ(format.round(std::nextafter(middle, -1.0f)), half)
          << format.name << " below " << middle;
      ASSERT_EQ(format.round(std::nextafter(middle, INFINITY)), next)
          << format.name << " above " << middle;
    }
  }
}

}  // namespace
}  // namespace footprint
