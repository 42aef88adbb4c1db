#include "footprint/trainer_manager/math/array_functions.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "footprint/base/simd/each_vector_target.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using Values = std::vector<float>;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

Values RandomValues(int64_t count, float most, std::mt19937_64* random) {
  Values values(static_cast<size_t>(count));
  for (float& v : values) {
    v = most * (static_cast<float>((*random)() % 200001) / 100000.0f - 1.0f);
  }
  return values;
}

// Counts around the width of vectors.
const std::vector<int64_t> kCounts = {1, 3, 15, 16, 17, 31, 33, 64, 100, 1000};

void ExpectNear(double value, double expected, double magnitude) {
  EXPECT_NEAR(value, expected, 1e-6 * magnitude);
}

TEST(ArrayFunctionsTest, LogSumExpIsThatOfDoubles) {
  ForEachVectorTarget([](bool) {
    std::mt19937_64 random(1);
    for (const int64_t count : kCounts) {
      const Values values = RandomValues(count, 30.0f, &random);
      double sum = 0;
      for (const float v : values) sum += std::exp(static_cast<double>(v));
      ExpectNear(LogSumExp(values.data(), count), std::log(sum), 30);
    }
  });
}

TEST(ArrayFunctionsTest, ExpDifferencesAreThoseOfDoubles) {
  ForEachVectorTarget([](bool) {
    std::mt19937_64 random(2);
    for (const int64_t count : kCounts) {
      Values values = RandomValues(count, 40.0f, &random);
      const Values given = values;
      ExpDifferences(values.data(), count, 3.0f, values.data());
      for (size_t i = 0; i < values.size(); ++i) {
        const double expected = std::exp(static_cast<double>(given[i] - 3.0f));
        ExpectNear(values[i], expected, expected);
      }
    }
  });
}

TEST(ArrayFunctionsTest, DotProductsAreThoseOfDoubles) {
  ForEachVectorTarget([](bool) {
    std::mt19937_64 random(3);
    for (const int64_t count : kCounts) {
      const Values a = RandomValues(count, 1.0f, &random);
      const Values b = RandomValues(count, 1.0f, &random);
      double sum = 0;
      double magnitude = 1e-30;
      for (size_t i = 0; i < a.size(); ++i) {
        sum += static_cast<double>(a[i]) * b[i];
        magnitude += std::fabs(static_cast<double>(a[i]) * b[i]);
      }
      ExpectNear(DotProduct(a.data(), b.data(), count), sum, 4 * magnitude);
    }
  });
}

// Returns every float near the change from one formula to the other, and many
// floats of all magnitudes. Small results are also compared by their relative
// error.
Values TanhArguments() {
  Values values = {0.0f, -0.0f, 1e-38f, -1e-38f, 88.0f, -88.0f, 1e38f, -1e38f};
  for (float x = 0.6249f; x < 0.6251f; x = std::nextafter(x, 1.0f)) {
    values.push_back(x);
  }
  std::mt19937_64 random(9);
  for (const float most : {1e-6f, 1e-2f, 0.7f, 3.0f, 12.0f, 100.0f}) {
    const Values more = RandomValues(5000, most, &random);
    values.insert(values.end(), more.begin(), more.end());
  }
  return values;
}

TEST(ArrayFunctionsTest, TanhAndItsSlopeAreThoseOfDoubles) {
  ForEachVectorTarget([](bool) {
    const Values given = TanhArguments();
    const int64_t count = static_cast<int64_t>(given.size());
    Values values = given;
    ComputeTanh(values.data(), count, values.data());
    Values slopes = values;
    TimesTanhSlope(given.data(), values.data(), count, slopes.data());
    for (size_t i = 0; i < values.size(); ++i) {
      const double expected = std::tanh(static_cast<double>(given[i]));
      EXPECT_LE(std::abs(values[i] - expected), 4e-7 * std::abs(expected))
          << given[i];
      EXPECT_EQ(std::signbit(values[i]), std::signbit(given[i]));
      const double y = values[i];
      ExpectNear(slopes[i], given[i] * (1 - y * y), std::abs(given[i]));
    }
  });
}

TEST(ArrayFunctionsTest, SigmoidAndItsSlopeAreThoseOfDoubles) {
  ForEachVectorTarget([](bool) {
    std::mt19937_64 random(10);
    const Values given = RandomValues(20000, 80.0f, &random);
    const int64_t count = static_cast<int64_t>(given.size());
    Values values = given;
    ComputeSigmoid(values.data(), count, values.data());
    Values slopes = values;
    TimesSigmoidSlope(given.data(), values.data(), count, slopes.data());
    for (size_t i = 0; i < values.size(); ++i) {
      const double expected =
          1 / (1 + std::exp(-static_cast<double>(given[i])));
      ExpectNear(values[i], expected, expected);
      const double y = values[i];
      ExpectNear(slopes[i], given[i] * y * (1 - y), std::abs(given[i]));
    }
  });
}

TEST(ArrayFunctionsTest, TanhAndSigmoidKeepNaNAndSaturate) {
  ForEachVectorTarget([](bool) {
    Values values = {kNan, kInfinity, -kInfinity};
    ComputeTanh(values.data(), 3, values.data());
    EXPECT_TRUE(std::isnan(values[0]));
    EXPECT_EQ(values[1], 1.0f);
    EXPECT_EQ(values[2], -1.0f);
    values = {kNan, kInfinity, -kInfinity};
    ComputeSigmoid(values.data(), 3, values.data());
    EXPECT_TRUE(std::isnan(values[0]));
    EXPECT_EQ(values[1], 1.0f);
    EXPECT_LT(values[2], 1e-37f);
  });
}

TEST(ArrayFunctionsTest, SiluAndItsSlopeAreThoseOfDoubles) {
  std::vector<float> x;
  for (float value = -40; value <= 40; value += 0.0625f) x.push_back(value);
  const int64_t count = static_cast<int64_t>(x.size());
  std::vector<float> silu(x.size());
  std::vector<float> slopes(x.size(), 0.5f);
  ComputeSilu(x.data(), count, silu.data());
  TimesSiluSlope(slopes.data(), x.data(), count, slopes.data());
  for (size_t i = 0; i < x.size(); ++i) {
    const double value = x[i];
    const double s = 1 / (1 + std::exp(-value));
    EXPECT_NEAR(silu[i], value * s, 1e-6 * std::abs(value)) << value;
    EXPECT_NEAR(slopes[i], 0.5 * s * (1 + value * (1 - s)), 2e-6) << value;
  }
}

TEST(ArrayFunctionsTest, GeluAndItsSlopeAreThoseOfDoubles) {
  ForEachVectorTarget([](bool) {
    std::mt19937_64 random(4);
    for (const int64_t count : kCounts) {
      const Values x = RandomValues(count, 8.0f, &random);
      const Values factors = RandomValues(count, 2.0f, &random);
      Values gelu(x.size(), kNan);
      Values slopes = factors;
      ComputeGelu(x.data(), count, gelu.data());
      TimesGeluSlope(slopes.data(), x.data(), count, slopes.data());
      for (size_t i = 0; i < x.size(); ++i) {
        const double v = x[i];
        const double share = 0.5 * std::erfc(-v * std::sqrt(0.5));
        const double density = std::exp(-0.5 * v * v) * 0.3989422804014327;
        ExpectNear(gelu[i], v * share, std::max(1.0, std::fabs(v)));
        ExpectNear(slopes[i], factors[i] * (share + v * density), 4);
      }
    }
  });
}

TEST(ArrayFunctionsTest, AReluPassesWhatIsAboveZero) {
  ForEachVectorTarget([](bool) {
    const Values kept = {1.0f, 0.0f, -0.0f, 1e-40f, kNan, 2.0f, 3.0f};
    const Values factors = {5.0f, 5.0f, 5.0f, 5.0f, 5.0f, kNan, -4.0f};
    Values results(7, 9.0f);
    TimesReluSlope(factors.data(), kept.data(), 7, results.data());
    EXPECT_EQ(results[0], 5.0f);
    EXPECT_EQ(results[1], 0.0f);
    EXPECT_EQ(results[2], 0.0f);
    EXPECT_EQ(results[3], 5.0f);
    EXPECT_TRUE(std::isnan(results[4]));
    EXPECT_TRUE(std::isnan(results[5]));
    EXPECT_EQ(results[6], -4.0f);
  });
}

TEST(ArrayFunctionsTest, WhatIsNotFiniteStaysSo) {
  ForEachVectorTarget([](bool) {
    for (const float bad : {kNan, kInfinity}) {
      for (const size_t index : {0u, 5u, 39u}) {
        Values values(40, 1.0f);
        values[index] = bad;
        EXPECT_FALSE(std::isfinite(LogSumExp(values.data(), 40)));
        Values results(40);
        ExpDifferences(values.data(), 40, 2.0f, results.data());
        EXPECT_FALSE(std::isfinite(results[index]));
        EXPECT_FALSE(
            std::isfinite(DotProduct(values.data(), values.data(), 40)));
        ComputeGelu(values.data(), 40, results.data());
        EXPECT_FALSE(std::isfinite(results[index]));
        EXPECT_EQ(std::count_if(results.begin(), results.end(),
                                [](float r) { return std::isfinite(r); }),
                  39);
      }
    }
  });
}

TEST(ArrayFunctionsTest, BitsAreThoseOfEveryInstructionSet) {
  std::mt19937_64 random(5);
  const Values values = RandomValues(77, 5.0f, &random);
  Values expected;
  ForEachVectorTarget([&](bool fused) {
    if (!fused) return;
    Values results(77);
    ComputeGelu(values.data(), 77, results.data());
    results.push_back(LogSumExp(values.data(), 77));
    results.push_back(DotProduct(values.data(), values.data(), 77));
    if (expected.empty()) expected = results;
    EXPECT_EQ(std::memcmp(results.data(), expected.data(),
                          results.size() * sizeof(float)),
              0);
  });
}

}  // namespace
}  // namespace footprint
