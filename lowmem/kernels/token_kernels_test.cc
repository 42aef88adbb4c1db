#include "footprint/lowmem/kernels/token_kernels.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "footprint/base/simd/each_vector_target.h"
#include "footprint/lowmem/kernels/reference_kernels.h"
#include "footprint/lowmem/kernels/token_panel.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

struct alignas(64) Lane16 {
  float lane[kPanelTokens];
};

std::vector<Lane16> RandomRows(std::mt19937& random, int64_t rows, float mean,
                               float deviation) {
  std::normal_distribution<float> normal(mean, deviation);
  std::vector<Lane16> numbers(rows);
  for (Lane16& row : numbers) {
    for (float& number : row.lane) number = normal(random);
  }
  return numbers;
}

float* Data(std::vector<Lane16>& rows) { return rows[0].lane; }

std::vector<float> RandomNumbers(std::mt19937& random, int64_t count) {
  std::normal_distribution<float> normal(1.0f, 0.2f);
  std::vector<float> numbers(count);
  for (float& number : numbers) number = normal(random);
  return numbers;
}

TEST(AddLayerNormTest, IsWithinItsStatedErrorOfDoublePrecision) {
  std::mt19937 random(1);
  for (const int64_t features : {1, 2, 7, 64, 100, 1024, 4096}) {
    const int64_t panels = 2;
    // The mean is as large as the deviation, so that it matters to subtract it
    // before squaring.
    const std::vector<Lane16> input =
        RandomRows(random, features * panels, 1.0f, 1.0f);
    std::vector<Lane16> addend =
        RandomRows(random, features * panels, 3.0f, 2.0f);
    const std::vector<float> gain = RandomNumbers(random, features);
    const std::vector<float> bias = RandomNumbers(random, features);
    for (const bool add : {false, true}) {
      ForEachVectorTarget([&](bool) {
        std::vector<Lane16> hidden = input;
        AddLayerNorm(add ? Data(addend) : nullptr, features, panels,
                     {gain.data(), bias.data(), 1e-5f}, Data(hidden));
        for (int64_t token = 0; token < panels * kPanelTokens; ++token) {
          std::vector<double> column;
          for (int64_t feature = 0; feature < features; ++feature) {
            const int64_t row = token / kPanelTokens * features + feature;
            column.push_back(
                static_cast<double>(input[row].lane[token % kPanelTokens]) +
                (add ? addend[row].lane[token % kPanelTokens] : 0.0f));
          }
          const std::vector<double> expected =
              LayerNormReference(column, gain, bias, 1e-5f);
          // A single feature equals its mean, so only rounding remains.
          double largest = features < 3 ? 400 : 1;
          for (const double x : expected)
            largest = std::max(largest, std::abs(x));
          for (int64_t feature = 0; feature < features; ++feature) {
            const int64_t row = token / kPanelTokens * features + feature;
            ASSERT_NEAR(hidden[row].lane[token % kPanelTokens],
                        expected[feature], std::ldexp(largest, -20))
                << features << " features, token " << token;
          }
        }
      });
    }
  }
}

// The mean is exact only to its last bit; the variance must not depend on that
// bit.
TEST(AddLayerNormTest, StandsAMeanFarFromZero) {
  std::mt19937 random(4);
  const int64_t features = 1000;
  const float mean = 4000;
  const std::vector<Lane16> input = RandomRows(random, features, mean, 1.0f);
  const std::vector<float> gain(features, 1.0f);
  const std::vector<float> bias(features, 0.0f);
  // The bound is the mean's error, a few units of its last place, relative to
  // the deviation.
  const double most = 8 * mean * std::ldexp(1.0, -24);
  ForEachVectorTarget([&](bool) {
    std::vector<Lane16> hidden = input;
    AddLayerNorm(nullptr, features, 1, {gain.data(), bias.data(), 1e-5f},
                 Data(hidden));
    for (int64_t token = 0; token < kPanelTokens; ++token) {
      std::vector<double> column;
      for (const Lane16& row : input) column.push_back(row.lane[token]);
      const std::vector<double> expected =
          LayerNormReference(column, gain, bias, 1e-5f);
      for (int64_t feature = 0; feature < features; ++feature) {
        ASSERT_NEAR(hidden[feature].lane[token], expected[feature], most)
            << "token " << token;
      }
    }
  });
}

TEST(LayerNormTest, GivesWhatAddLayerNormGivesInPlace) {
  std::mt19937 random(2);
  const int64_t features = 53;
  std::vector<Lane16> input = RandomRows(random, 3 * features, 0.0f, 1.0f);
  const std::vector<float> gain = RandomNumbers(random, features);
  const std::vector<float> bias = RandomNumbers(random, features);
  const NormWeights weights = {gain.data(), bias.data(), 1e-12f};
  ForEachVectorTarget([&](bool) {
    std::vector<Lane16> output(input.size());
    LayerNorm(Data(input), features, 3, weights, Data(output));
    std::vector<Lane16> hidden = input;
    AddLayerNorm(nullptr, features, 3, weights, Data(hidden));
    EXPECT_EQ(
        std::memcmp(Data(output), Data(hidden), output.size() * sizeof(Lane16)),
        0);
  });
}

TEST(ScaledSoftmaxTest, IsWithinItsStatedErrorOfDoublePrecision) {
  std::mt19937 random(3);
  for (const int64_t rows : {1, 2, 9, 16, 100, 1000, 4096}) {
    const std::vector<Lane16> scores = RandomRows(random, rows, 5.0f, 30.0f);
    for (const int64_t first_end : {int64_t{1}, rows / 2 + 1, rows}) {
      ForEachVectorTarget([&](bool) {
        std::vector<Lane16> shares = scores;
        ScaledSoftmax(rows, first_end, 0.125f, Data(shares));
        for (int64_t lane = 0; lane < kPanelTokens; ++lane) {
          std::vector<double> column;
          for (const Lane16& row : scores) column.push_back(row.lane[lane]);
          const std::vector<double> expected =
              SoftmaxReference(column, std::min(rows, first_end + lane), 0.125);
          const double largest =
              *std::max_element(expected.begin(), expected.end());
          double sum = 0;
          for (int64_t row = 0; row < rows; ++row) {
            const double below =
                expected[row] == 0 ? 0 : std::log(largest / expected[row]);
            // Beyond 87 below the largest, what is left is below 1e-37.
            ASSERT_NEAR(shares[row].lane[lane], expected[row],
                        std::ldexp(expected[row], -22) * (4 + below) + 2e-38)
                << rows << " rows, row " << row << " lane " << lane;
            sum += shares[row].lane[lane];
          }
          ASSERT_NEAR(sum, 1, 1e-6);
        }
      });
    }
  }
}

// Lane i sees `window` keys, of which the last is first_end + i - 1.
TEST(ScaledSoftmaxTest, SeesAWindowOfKeysOnly) {
  std::mt19937 random(11);
  for (const int64_t window : {1, 5, 16, 40}) {
    for (const int64_t rows : {7, 16, 70}) {
      const std::vector<Lane16> scores = RandomRows(random, rows, 5.0f, 30.0f);
      const int64_t first_end = std::max<int64_t>(1, rows - 15);
      ForEachVectorTarget([&](bool) {
        std::vector<Lane16> shares = scores;
        ScaledSoftmax(rows, SeenKeys{first_end - window, first_end}, 0.125f,
                      Data(shares));
        for (int64_t lane = 0; lane < kPanelTokens; ++lane) {
          const int64_t begin = std::max<int64_t>(0, first_end + lane - window);
          const int64_t end = std::min(rows, first_end + lane);
          std::vector<double> seen;
          for (int64_t row = begin; row < end; ++row) {
            seen.push_back(scores[row].lane[lane]);
          }
          const std::vector<double> expected =
              seen.empty()
                  ? seen
                  : SoftmaxReference(seen, static_cast<int64_t>(seen.size()),
                                     0.125);
          for (int64_t row = 0; row < rows; ++row) {
            const bool is_seen = row >= begin && row < end;
            ASSERT_NEAR(shares[row].lane[lane],
                        is_seen ? expected[row - begin] : 0.0, 1e-6)
                << "window " << window << ", row " << row << " lane " << lane;
          }
        }
      });
    }
  }
}

TEST(PanelArithmeticTest, AddsAndMultipliesNumberByNumber) {
  std::mt19937 random(13);
  const std::vector<Lane16> a = RandomRows(random, 6, 0.0f, 1.0f);
  std::vector<Lane16> b = RandomRows(random, 6, 0.0f, 1.0f);
  ForEachVectorTarget([&](bool) {
    std::vector<Lane16> sum = a;
    AddPanels(Data(b), 3, 2, Data(sum));
    std::vector<Lane16> product = a;
    MultiplyPanelsBy(Data(b), 3, 2, Data(product));
    for (size_t row = 0; row < a.size(); ++row) {
      for (int64_t lane = 0; lane < kPanelTokens; ++lane) {
        EXPECT_EQ(sum[row].lane[lane], a[row].lane[lane] + b[row].lane[lane]);
        EXPECT_EQ(product[row].lane[lane],
                  a[row].lane[lane] * b[row].lane[lane]);
      }
    }
  });
}

TEST(ScaledSoftmaxTest, StandsAnySpreadOfScores) {
  for (const float size : {1e4f, 1e30f}) {
    ForEachVectorTarget([&](bool) {
      std::vector<Lane16> scores(3);
      for (float& x : scores[0].lane) x = -size;
      for (float& x : scores[1].lane) x = size;
      for (float& x : scores[2].lane) x = size;
      ScaledSoftmax(3, 3, 0.125f, Data(scores));
      for (int64_t lane = 0; lane < kPanelTokens; ++lane) {
        EXPECT_LT(scores[0].lane[lane], 1e-37f);
        EXPECT_EQ(scores[1].lane[lane], 0.5f);
        EXPECT_EQ(scores[2].lane[lane], 0.5f);
      }
    });
  }
}

// Damaged weights must not look like a result.
TEST(ScaledSoftmaxTest, PassesOnWhatIsNoNumber) {
  for (const int64_t bad_row : {0, 1, 19}) {
    ForEachVectorTarget([&](bool) {
      std::vector<Lane16> scores(20);
      scores[bad_row].lane[3] = std::numeric_limits<float>::quiet_NaN();
      ScaledSoftmax(20, 20, 0.125f, Data(scores));
      for (const Lane16& row : scores) {
        for (int64_t lane = 0; lane < kPanelTokens; ++lane) {
          ASSERT_EQ(std::isnan(row.lane[lane]), lane == 3);
        }
      }
    });
  }
}

TEST(ActivateTest, PassesOnWhatIsNoNumber) {
  for (const Activation activation :
       {Activation::kGelu, Activation::kGeluTanh, Activation::kRelu,
        Activation::kSilu, Activation::kNone}) {
    ForEachVectorTarget([&](bool) {
      std::vector<float> numbers(21, 1.0f);
      for (const int i : {0, 5, 20}) {
        numbers[i] = std::numeric_limits<float>::quiet_NaN();
      }
      Activate(activation, 21, numbers.data());
      for (int i = 0; i < 21; ++i) {
        ASSERT_EQ(std::isnan(numbers[i]), i == 0 || i == 5 || i == 20) << i;
      }
    });
  }
}

// Returns every 10007th float of both signs, up to 1e6.
std::vector<float> Sweep() {
  std::vector<float> numbers;
  for (uint32_t bits = 0; bits < 0x49742400u; bits += 10007) {
    float number;
    std::memcpy(&number, &bits, sizeof(number));
    numbers.push_back(number);
    numbers.push_back(-number);
  }
  return numbers;
}

TEST(ActivateTest, IsWithinItsStatedErrorOfDoublePrecision) {
  const std::vector<float> input = Sweep();
  for (const Activation activation :
       {Activation::kGelu, Activation::kGeluTanh, Activation::kRelu,
        Activation::kSilu, Activation::kNone}) {
    std::vector<double> expected;
    for (const float x : input) {
      expected.push_back(ReferenceActivation(activation, x));
    }
    ForEachVectorTarget([&](bool) {
      std::vector<float> output = input;
      Activate(activation, static_cast<int64_t>(output.size()), output.data());
      for (size_t i = 0; i < input.size(); ++i) {
        const double x = std::abs(static_cast<double>(input[i]));
        ASSERT_LE(
            std::abs(output[i] - expected[i]),
            4e-7 * std::min(x, 1.0) + 4e-7 * std::abs(expected[i]) + 1e-44)
            << "of " << input[i] << ": " << output[i] << " for " << expected[i];
      }
    });
  }
}

TEST(ActivateTest, TouchesNothingBeyondTheEnd) {
  for (int64_t count = 0; count < 40; ++count) {
    ForEachVectorTarget([&](bool) {
      std::vector<float> numbers(60, -3.0f);
      Activate(Activation::kRelu, count, numbers.data());
      for (int64_t i = 0; i < 60; ++i) {
        ASSERT_EQ(numbers[i], i < count ? 0.0f : -3.0f);
      }
    });
  }
}

TEST(TokensAreFiniteTest, AsksEveryFeatureOfTheTokensAndNothingElse) {
  for (const int64_t features : {1, 7, 8, 9, 300}) {
    for (const int64_t tokens : {1, 15, 16, 17, 40}) {
      const int64_t panels = PanelCount(tokens);
      for (const float bad : {NAN, -NAN, INFINITY, -INFINITY}) {
        std::vector<Lane16> rows(panels * features);
        float* const data = Data(rows);
        std::fill(data, data + panels * features * kPanelTokens, 3e38f);
        ForEachVectorTarget([&](bool) {
          EXPECT_TRUE(TokensAreFinite(data, features, tokens));
          for (const int64_t token : {int64_t{0}, tokens - 1, tokens}) {
            if (token == panels * kPanelTokens) continue;
            for (const int64_t feature : {int64_t{0}, features - 1}) {
              float& at = data[token / kPanelTokens * features * kPanelTokens +
                               feature * kPanelTokens + token % kPanelTokens];
              at = bad;
              EXPECT_EQ(TokensAreFinite(data, features, tokens),
                        token == tokens)
                  << features << " features, token " << token << " of "
                  << tokens;
              at = -3e38f;
            }
          }
        });
      }
    }
  }
}

TEST(AreFiniteTest, AsksEveryNumber) {
  for (const int64_t count : {1, 15, 16, 17, 33, 600}) {
    std::vector<float> values(count, -3e38f);
    ForEachVectorTarget([&](bool) {
      EXPECT_TRUE(AreFinite(values.data(), count));
      for (int64_t i = 0; i < count; ++i) {
        for (const float bad : {NAN, INFINITY, -INFINITY}) {
          values[i] = bad;
          EXPECT_FALSE(AreFinite(values.data(), count)) << i << " of " << count;
        }
        values[i] = 1;
      }
    });
  }
  EXPECT_TRUE(AreFinite(nullptr, 0));
}

}  // namespace
}  // namespace footprint
