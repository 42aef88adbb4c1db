#include "footprint/lowmem/kernels/quantised_product.h"

#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "footprint/base/files/test_file.h"
#include "footprint/base/simd/each_vector_target.h"
#include "footprint/base/tensor/dtype.h"
#include "footprint/lowmem/kernels/matrix_product.h"
#include "footprint/lowmem/kernels/quantised_elements.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

// The types in the order of testdata/make_quantised_blocks.py.
constexpr DType kTypes[] = {DType::kQ4_0, DType::kQ4_1, DType::kQ5_0,
                            DType::kQ5_1, DType::kQ8_0, DType::kQ4K,
                            DType::kQ5K,  DType::kQ6K};

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
        expected.push_back(ElementOf(type, &bytes[at], e).value());
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
