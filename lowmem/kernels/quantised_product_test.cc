#include "footprint/lowmem/kernels/quantised_product.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "footprint/base/files/test_file.h"
#include "footprint/base/simd/each_vector_target.h"
#include "footprint/base/tensor/dtype.h"
#include "footprint/lowmem/kernels/matrix_product.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

// The types in the order of testdata/make_quantised_blocks.py.
constexpr DType kTypes[] = {DType::kQ4_0, DType::kQ4_1, DType::kQ5_0,
                            DType::kQ5_1, DType::kQ8_0, DType::kQ4K,
                            DType::kQ5K,  DType::kQ6K};

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

// One element of a block, by the format's table, bit by bit.
float Element(DType type, const uint8_t* b, int e) {
  const auto nibble = [](uint8_t byte, bool high) {
    return high ? byte / 16 : byte % 16;
  };
  const float d = static_cast<float>(Half(b));
  const int j = e % 16;
  switch (type) {
    case DType::kQ4_0:
      return d * static_cast<float>(nibble(b[2 + j], e >= 16) - 8);
    case DType::kQ4_1: {
      const float product = d * static_cast<float>(nibble(b[4 + j], e >= 16));
      return product + static_cast<float>(Half(b + 2));
    }
    case DType::kQ5_0: {
      const int fifth = b[2 + e / 8] >> e % 8 & 1;
      return d *
             static_cast<float>(nibble(b[6 + j], e >= 16) + 16 * fifth - 16);
    }
    case DType::kQ5_1: {
      const int fifth = b[4 + e / 8] >> e % 8 & 1;
      const float product =
          d * static_cast<float>(nibble(b[8 + j], e >= 16) + 16 * fifth);
      return product + static_cast<float>(Half(b + 2));
    }
    case DType::kQ8_0:
      return d * static_cast<float>(static_cast<int8_t>(b[2 + e]));
    case DType::kQ4K:
    case DType::kQ5K: {
      int scale = 0;
      int least = 0;
      FindSixBits(b + 4, e / 32, &scale, &least);
      const uint8_t* numbers = b + (type == DType::kQ4K ? 16 : 48);
      int number = nibble(numbers[e / 64 * 32 + e % 32], e / 32 % 2 == 1);
      if (type == DType::kQ5K) number += (b[16 + e % 32] >> e / 32 & 1) * 16;
      const float step = d * static_cast<float>(scale);
      const float minimum =
          static_cast<float>(Half(b + 2)) * static_cast<float>(least);
      const float product = step * static_cast<float>(number);
      return product - minimum;
    }
    default: {
      const float whole = static_cast<float>(Half(b + 208));
      const int half = e / 128;
      const int within = e % 128;
      const int low = nibble(b[half * 64 + within % 64], within >= 64);
      const int high = b[128 + half * 32 + within % 32] >> within / 32 * 2 & 3;
      const float step =
          whole * static_cast<float>(static_cast<int8_t>(b[192 + e / 16]));
      return step * static_cast<float>(low + 16 * high - 32);
    }
  }
}

// Random blocks with finite scales.
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

std::vector<float> Widen(DType type, const std::vector<uint8_t>& bytes) {
  std::vector<float> values(ElementsOfBytes(type, bytes.size()));
  WidenQuantised(type, bytes.data(), values.size(), values.data());
  return values;
}

TEST(QuantisedProductTest, WidensToTheValuesOfTheFormatsOwnLibrary) {
  const std::string file =
      ReadTestFile("lowmem/kernels/testdata/quantised_blocks.bin");
  constexpr int64_t kElements = 1024;
  ForEachVectorTarget([&](bool) {
    size_t at = 0;
    for (const DType type : kTypes) {
      const int64_t bytes = BytesOfElements(type, kElements);
      const std::vector<uint8_t> blocks(file.begin() + at,
                                        file.begin() + at + bytes);
      at += bytes;
      std::vector<float> expected(kElements);
      std::memcpy(expected.data(), &file[at], kElements * sizeof(float));
      at += kElements * sizeof(float);
      const std::vector<float> values = Widen(type, blocks);
      for (int64_t i = 0; i < kElements; ++i) {
        ASSERT_EQ(values[i], expected[i]) << DTypeName(type) << " " << i;
      }
    }
  });
}

TEST(QuantisedProductTest, WidensRandomBlocksBitForBit) {
  std::mt19937 random(1);
  for (const DType type : kTypes) {
    const DTypeBlock block = BlockOf(type);
    const std::vector<uint8_t> bytes = RandomBlocks(random, type, 64 << 10);
    std::vector<float> expected;
    for (size_t at = 0; at < bytes.size(); at += block.bytes) {
      for (int e = 0; e < block.elements; ++e) {
        expected.push_back(Element(type, &bytes[at], e));
      }
    }
    ForEachVectorTarget([&](bool) {
      const std::vector<float> values = Widen(type, bytes);
      ASSERT_EQ(std::memcmp(values.data(), expected.data(),
                            expected.size() * sizeof(float)),
                0)
          << DTypeName(type);
    });
  }
}

TEST(QuantisedProductTest, HasTheBitsOfTheWidenedWeights) {
  std::mt19937 random(2);
  std::normal_distribution<float> normal;
  for (const DType type : kTypes) {
    // Rows side by side and one by one; the last block of a sum is shorter
    // where blocks allow it.
    const int64_t columns = BlockOf(type).elements == 32 ? 896 : 768;
    const int64_t stride = columns + 256;
    for (const int64_t rows : {1, 7, 45}) {
      const std::vector<uint8_t> bytes =
          RandomBlocks(random, type, rows * stride);
      std::vector<float> input(columns);
      for (float& number : input) number = normal(random);
      std::vector<float> bias(rows);
      for (float& number : bias) number = normal(random);
      ForEachVectorTarget([&](bool) {
        const std::vector<float> wide = Widen(type, bytes);
        for (const bool accumulate : {false, true}) {
          std::vector<float> expected(2 * rows, 0.5f);
          std::vector<float> result(2 * rows, 0.5f);
          const ProductEpilogue epilogue = {{bias.data(), accumulate},
                                            Activation::kSilu};
          MultiplyVector(DType::kF32, wide.data(), stride, rows, columns,
                         input.data(), epilogue, expected.data(), 2);
          MultiplyVector(type, bytes.data(), stride, rows, columns,
                         input.data(), epilogue, result.data(), 2);
          ASSERT_EQ(std::memcmp(result.data(), expected.data(),
                                result.size() * sizeof(float)),
                    0)
              << DTypeName(type) << " " << rows;
        }
      });
    }
  }
}

TEST(QuantisedProductDeathTest, RefusesAnotherType) {
  const float number = 0;
  float result = 0;
  EXPECT_DEATH(WidenQuantised(DType::kI32, &number, 1, &result),
               "no arithmetic on I32");
}

}  // namespace
}  // namespace footprint
