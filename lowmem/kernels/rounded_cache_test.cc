#include "footprint/lowmem/kernels/rounded_cache.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "footprint/base/simd/each_vector_target.h"
#include "footprint/base/tensor/dtype.h"
#include "footprint/lowmem/kernels/matrix_product.h"
#include "footprint/lowmem/kernels/quantise_row.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

constexpr CacheType kTypes[] = {CacheType::kF32, CacheType::kF16,
                                CacheType::kQ8_0};

std::vector<float> RandomFloats(std::mt19937& random, int64_t count) {
  std::normal_distribution<float> normal;
  std::vector<float> numbers(count);
  for (float& x : numbers) x = normal(random);
  return numbers;
}

// What the cache makes of the features of one position.
std::vector<float> Rounded(CacheType type, const std::vector<float>& column) {
  std::vector<float> result = column;
  if (type == CacheType::kQ8_0) {
    std::vector<float> whole = column;
    whole.resize((column.size() + 31) / 32 * 32);
    std::vector<uint8_t> blocks(BytesOfElements(DType::kQ8_0, whole.size()));
    QuantiseRow(DType::kQ8_0, whole.data(), whole.size(), blocks.data());
    WidenToFloat(DType::kQ8_0, blocks.data(), whole.size(), whole.data());
    std::copy_n(whole.begin(), column.size(), result.begin());
  } else if (type == CacheType::kF16) {
    for (float& x : result) {
      // The nearest multiple of the step of x's power of two, to even.
      const float step = std::max(
          0x1p-24f, std::exp2(std::floor(std::log2(std::fabs(x))) - 10));
      x = std::nearbyint(x / step) * step;
    }
  }
  return result;
}

TEST(RoundedCacheTest, KeepsEachPositionAsTheFormatSays) {
  std::mt19937 random(1);
  for (const CacheType type : kTypes) {
    for (const int64_t features : {16, 64, 80}) {
      constexpr int64_t kPositions = 48;
      constexpr int64_t kStride = 33;
      const std::vector<float> values =
          RandomFloats(random, features * kStride);
      ForEachVectorTarget([&](bool) {
        std::vector<char> data(CacheHeadBytes(type, features, kPositions), 7);
        const CacheHead head = {type, data.data(), features, kPositions};
        // In two calls, from the fifth position on.
        RoundIntoCache(head, values.data(), kStride, 5, 20);
        RoundIntoCache(head, values.data() + 20, kStride, 25, 13);
        std::vector<float> widened(features * 40, -1.0f);
        WidenFromCache(head, 0, features, 5, 33, widened.data(), 40);
        // Some features of some positions, from the middle of a group.
        std::vector<float> part(7 * 9);
        WidenFromCache(head, 6, 7, 9, 9, part.data(), 9);
        for (int64_t i = 0; i < 33; ++i) {
          std::vector<float> column(features);
          for (int64_t f = 0; f < features; ++f) {
            column[f] = values[f * kStride + i];
          }
          const std::vector<float> expected = Rounded(type, column);
          for (int64_t f = 0; f < features; ++f) {
            ASSERT_EQ(widened[f * 40 + i], expected[f])
                << CacheTypeName(type) << " " << f << " " << i;
            if (f >= 6 && f < 13 && i >= 4 && i < 13) {
              ASSERT_EQ(part[(f - 6) * 9 + i - 4], expected[f]);
            }
          }
        }
        ASSERT_EQ(widened[33], -1.0f);
      });
    }
  }
}

// The most that the header allows the number at `at` to be off.
float MostError(CacheType type, const std::vector<float>& values, int64_t at,
                int64_t positions) {
  if (type == CacheType::kF16) {
    return std::max(std::fabs(values[at]) * 0x1p-11f, 0x1p-25f);
  }
  const int64_t feature = at / positions;
  float largest = 0;
  for (int64_t f = feature / 32 * 32; f < feature / 32 * 32 + 32; ++f) {
    largest =
        std::max(largest, std::fabs(values[f * positions + at % positions]));
  }
  return largest < 0.008f ? 0.004f * largest + 3.8e-6f : 0.0045f * largest;
}

TEST(RoundedCacheTest, ErrsAsTheHeaderSays) {
  std::mt19937 random(2);
  constexpr int64_t kFeatures = 64;
  constexpr int64_t kPositions = 16;
  for (const float scale : {1.0f, 3e-3f, 1e-4f, 1e-5f, 1e-7f, 100.0f}) {
    std::vector<float> values = RandomFloats(random, kFeatures * kPositions);
    for (float& value : values) value *= scale;
    for (const CacheType type : {CacheType::kF16, CacheType::kQ8_0}) {
      std::vector<char> data(CacheHeadBytes(type, kFeatures, kPositions));
      const CacheHead head = {type, data.data(), kFeatures, kPositions};
      RoundIntoCache(head, values.data(), kPositions, 0, kPositions);
      std::vector<float> widened(kFeatures * kPositions);
      WidenFromCache(head, 0, kFeatures, 0, kPositions, widened.data(),
                     kPositions);
      for (int64_t at = 0; at < kFeatures * kPositions; ++at) {
        ASSERT_LE(std::fabs(widened[at] - values[at]),
                  MostError(type, values, at, kPositions))
            << CacheTypeName(type) << ", scale " << scale;
      }
    }
  }
}

TEST(RoundedCacheTest, TakesAQuarterOfFloats) {
  EXPECT_EQ(CacheHeadBytes(CacheType::kF32, 64, 16), 4 * 64 * 16);
  EXPECT_EQ(CacheHeadBytes(CacheType::kF16, 64, 16), 2 * 64 * 16);
  EXPECT_EQ(CacheHeadBytes(CacheType::kQ8_0, 64, 16), (64 + 4) * 16);
}

// What no half holds must not become a number.
TEST(RoundedCacheTest, LargeNumbersAndNaNsBecomeInfinite) {
  std::vector<char> data(CacheHeadBytes(CacheType::kF16, 1, 16));
  const CacheHead head = {CacheType::kF16, data.data(), 1, 16};
  const float values[] = {65519.0f, 65520.0f, -1e30f,
                          std::numeric_limits<float>::quiet_NaN()};
  RoundIntoCache(head, values, 4, 0, 4);
  float widened[4];
  WidenFromCache(head, 0, 1, 0, 4, widened, 4);
  EXPECT_EQ(widened[0], 65504.0f);
  EXPECT_TRUE(std::isinf(widened[1]));
  EXPECT_EQ(widened[2], -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isinf(widened[3]));
}

// A group with a number that is not finite has no number at all; the other
// groups and positions keep theirs.
TEST(RoundedCacheTest, AGroupOfBytesWithNoFiniteStepBecomesNaN) {
  constexpr int64_t kFeatures = 80;
  constexpr int64_t kPositions = 16;
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(),
                          -std::numeric_limits<float>::quiet_NaN(),
                          std::numeric_limits<float>::infinity(),
                          -std::numeric_limits<float>::infinity()}) {
    for (const int64_t place : {0, 31, 40, 79}) {
      std::vector<float> values(kFeatures * kPositions, 1.0f);
      values[place * kPositions + 5] = bad;
      ForEachVectorTarget([&](bool) {
        std::vector<char> data(
            CacheHeadBytes(CacheType::kQ8_0, kFeatures, kPositions));
        const CacheHead head = {CacheType::kQ8_0, data.data(), kFeatures,
                                kPositions};
        RoundIntoCache(head, values.data(), kPositions, 0, kPositions);
        std::vector<float> widened(kFeatures * kPositions);
        WidenFromCache(head, 0, kFeatures, 0, kPositions, widened.data(),
                       kPositions);
        for (int64_t f = 0; f < kFeatures; ++f) {
          for (int64_t i = 0; i < kPositions; ++i) {
            const float value = widened[f * kPositions + i];
            if (i == 5 && f / 32 == place / 32) {
              ASSERT_TRUE(std::isnan(value)) << bad << " at " << place;
            } else {
              ASSERT_NEAR(value, 1.0f, 0.001f) << bad << " at " << place;
            }
          }
        }
      });
    }
  }
}

}  // namespace
}  // namespace footprint
