#include "footprint/lowmem/kernels/quantise_row.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "footprint/base/files/test_file.h"
#include "footprint/base/tensor/dtype.h"
#include "footprint/lowmem/kernels/matrix_product.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(QuantiseRowTest, MakesTheBlocksOfTheFormatsOwnLibrary) {
  const std::string file =
      ReadTestFile("lowmem/kernels/testdata/quantised_blocks.bin");
  constexpr int64_t kElements = 1024;
  constexpr int64_t kFloatBytes =
      kElements * static_cast<int64_t>(sizeof(float));
  const int64_t q8_bytes = BytesOfElements(DType::kQ8_0, kElements);
  const int64_t q4_bytes = BytesOfElements(DType::kQ4_0, kElements);
  // They are the last part of the file.
  size_t at = file.size() - 2 * kFloatBytes - q8_bytes - q4_bytes;
  for (const DType type : {DType::kQ8_0, DType::kQ4_0}) {
    std::vector<float> source(kElements);
    std::memcpy(source.data(), &file[at], kFloatBytes);
    at += kFloatBytes;
    const int64_t bytes = BytesOfElements(type, kElements);
    std::vector<uint8_t> blocks(bytes);
    QuantiseRow(type, source.data(), kElements, blocks.data());
    for (int64_t i = 0; i < bytes; ++i) {
      ASSERT_EQ(blocks[i], static_cast<uint8_t>(file[at + i]))
          << DTypeName(type) << " " << i;
    }
    at += bytes;
  }
  EXPECT_EQ(at, file.size());
}

// Checks the bounds in the header for blocks of many sizes.
TEST(QuantiseRowTest, ErrsAtMostAsMuchAsItSays) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  for (const DType type : {DType::kQ8_0, DType::kQ4_0}) {
    for (int exponent = -8; exponent <= 8; ++exponent) {
      std::vector<float> source(64 * 32);
      for (float& number : source)
        number = std::ldexp(normal(random), exponent);
      std::vector<uint8_t> blocks(BytesOfElements(type, source.size()));
      QuantiseRow(type, source.data(), source.size(), blocks.data());
      std::vector<float> back(source.size());
      WidenToFloat(type, blocks.data(), back.size(), back.data());
      for (size_t block = 0; block < source.size(); block += 32) {
        float largest = 0;
        for (size_t i = block; i < block + 32; ++i) {
          largest = std::max(largest, std::fabs(source[i]));
        }
        const float bound = largest * (type == DType::kQ8_0 ? 0.0045f : 0.126f);
        for (size_t i = block; i < block + 32; ++i) {
          ASSERT_LE(std::fabs(source[i] - back[i]), bound)
              << DTypeName(type) << " " << exponent;
        }
      }
    }
  }
}

TEST(QuantiseRowTest, MakesZerosOfWhatIsTooSmall) {
  for (const DType type : {DType::kQ8_0, DType::kQ4_0}) {
    for (const int exponent : {-149, -136, -127, -120, -40}) {
      std::vector<float> source(32);
      for (size_t i = 1; i < 32; i += 2) {
        source[i] = std::ldexp(-1.0f, exponent);
      }
      std::vector<uint8_t> block(BytesOfElements(type, 32), 0xff);
      QuantiseRow(type, source.data(), 32, block.data());
      std::vector<float> back(32, 1);
      WidenToFloat(type, block.data(), 32, back.data());
      for (const float number : back) EXPECT_EQ(number, 0) << exponent;
    }
  }
}

TEST(QuantiseRowDeathTest, RefusesAnotherType) {
  const float numbers[32] = {};
  uint8_t block[64];
  EXPECT_DEATH(QuantiseRow(DType::kQ6K, numbers, 32, block),
               "not quantised to Q6_K");
}

}  // namespace
}  // namespace footprint
