#include "footprint/lowmem/kernels/matrix_product.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "footprint/base/simd/dense_product.h"
#include "footprint/base/simd/each_vector_target.h"
#include "footprint/lowmem/kernels/reference_kernels.h"
#include "footprint/lowmem/kernels/token_panel.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

constexpr double kRounding = 1.0 / (1 << 24);

std::vector<float> RandomNumbers(std::mt19937& random, int64_t count) {
  std::normal_distribution<float> normal;
  std::vector<float> numbers(count);
  for (float& number : numbers) number = normal(random);
  return numbers;
}

int64_t Between(std::mt19937& random, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random);
}

// Numbers at a cache line, as in an arena.
class AlignedFloats {
 public:
  explicit AlignedFloats(int64_t count)
      : storage_(count + 16), count_(count), shift_(0) {
    while (reinterpret_cast<uintptr_t>(storage_.data() + shift_) % 64 != 0) {
      ++shift_;
    }
  }
  float* data() { return storage_.data() + shift_; }
  const float* data() const { return storage_.data() + shift_; }
  int64_t size() const { return count_; }

 private:
  std::vector<float> storage_;
  int64_t count_;
  int64_t shift_;
};

AlignedFloats ToPanels(const std::vector<float>& tokens, int64_t columns) {
  const int64_t count = static_cast<int64_t>(tokens.size()) / columns;
  AlignedFloats panels(PanelCount(count) * columns * kPanelTokens);
  for (int64_t token = 0; token < count; ++token) {
    for (int64_t column = 0; column < columns; ++column) {
      panels.data()[(token / kPanelTokens) * columns * kPanelTokens +
                    column * kPanelTokens + token % kPanelTokens] =
          tokens[token * columns + column];
    }
  }
  return panels;
}

// A product with everything that it needs; tokens fill whole panels.
struct Problem {
  Problem(std::mt19937& random, int64_t rows, int64_t columns, int64_t tokens)
      : rows(rows),
        columns(columns),
        tokens(tokens),
        matrix(RandomNumbers(random, rows * columns)),
        transposed(rows * columns),
        input(RandomNumbers(random, tokens * columns)),
        bias(RandomNumbers(random, rows)),
        panels(ToPanels(input, columns)) {
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t column = 0; column < columns; ++column) {
        transposed[column * rows + row] = matrix[row * columns + column];
      }
    }
  }
  MatrixView View(bool transpose) const {
    return transpose ? MatrixView{transposed.data(), 1, rows}
                     : MatrixView{matrix.data(), columns, 1};
  }

  int64_t rows;
  int64_t columns;
  int64_t tokens;
  std::vector<float> matrix;
  std::vector<float> transposed;
  std::vector<float> input;
  std::vector<float> bias;
  AlignedFloats panels;
};

AlignedFloats Multiply(const Problem& problem, bool transpose,
                       const ProductEpilogue& epilogue, float before) {
  AlignedFloats output(PanelCount(problem.tokens) * problem.rows *
                       kPanelTokens);
  std::fill(output.data(), output.data() + output.size(), before);
  MultiplyPanels(problem.View(transpose), problem.rows, problem.columns,
                 {problem.panels.data(), problem.columns * kPanelTokens},
                 PanelCount(problem.tokens), epilogue,
                 {output.data(), kPanelTokens, problem.rows * kPanelTokens});
  return output;
}

double ErrorBound(const Problem& problem, double magnitude) {
  return (kSumBlock + problem.columns / kSumBlock + 3) * kRounding * magnitude;
}

TEST(MultiplyPanelsTest, IsWithinItsStatedErrorOfDoublePrecision) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 60; ++trial) {
    const Problem problem(random, Between(random, 1, 40),
                          Between(random, 1, 700), 16 * Between(random, 1, 5));
    const ReferenceProduct expected =
        MultiplyReference(problem.matrix, problem.input, problem.rows,
                          problem.columns, problem.tokens);
    const bool transpose = trial % 2 == 1;
    const bool accumulate = trial % 3 == 1;
    const float before = 0.75f;
    const ProductEpilogue epilogue = {
        {trial % 5 == 0 ? nullptr : problem.bias.data(), accumulate}};
    ForEachVectorTarget([&](bool) {
      const AlignedFloats output =
          Multiply(problem, transpose, epilogue, before);
      for (int64_t token = 0; token < problem.tokens; ++token) {
        for (int64_t row = 0; row < problem.rows; ++row) {
          const int64_t at = token * problem.rows + row;
          const double start =
              (accumulate ? before : 0.0) +
              (epilogue.bias == nullptr ? 0.0 : epilogue.bias[row]);
          const double actual = output.data()[(token / 16) * problem.rows * 16 +
                                              row * 16 + token % 16];
          ASSERT_NEAR(actual, start + expected.sum[at],
                      ErrorBound(problem, expected.magnitude[at] + 2))
              << "row " << row << " token " << token;
        }
      }
    });
  }
}

std::string Bits(const AlignedFloats& numbers) {
  return std::string(reinterpret_cast<const char*>(numbers.data()),
                     numbers.size() * sizeof(float));
}

TEST(MultiplyPanelsTest, HasTheSameBitsHoweverItIsCut) {
  std::mt19937 random(2);
  for (int trial = 0; trial < 40; ++trial) {
    const Problem problem(random, Between(random, 1, 60),
                          Between(random, 1, 1100), 16 * Between(random, 1, 6));
    const bool transpose = trial % 2 == 1;
    const ProductEpilogue epilogue = {{problem.bias.data(), false},
                                      Activation::kGelu};
    ForEachVectorTarget([&](bool) {
      const AlignedFloats whole = Multiply(problem, transpose, epilogue, 0);
      AlignedFloats parts(whole.size());
      const int64_t panels = PanelCount(problem.tokens);
      const MatrixView view = problem.View(transpose);
      int64_t column_step = kSumBlock * Between(random, 1, 3);
      for (int64_t column = 0; column < problem.columns;
           column += column_step) {
        const bool first = column == 0;
        const int64_t columns = std::min(column_step, problem.columns - column);
        const bool last = column + columns == problem.columns;
        for (int64_t row = 0; row < problem.rows;) {
          const int64_t rows = Between(random, 1, problem.rows - row);
          for (int64_t panel = 0; panel < panels;) {
            const int64_t count = Between(random, 1, panels - panel);
            MultiplyPanels(
                {view.data + row * view.row_stride +
                     column * view.column_stride,
                 view.row_stride, view.column_stride},
                rows, columns,
                {problem.panels.data() + panel * problem.columns * 16 +
                     column * 16,
                 problem.columns * 16},
                count,
                {{first ? problem.bias.data() + row : nullptr, !first},
                 last ? Activation::kGelu : Activation::kNone},
                {parts.data() + panel * problem.rows * 16 + row * 16, 16,
                 problem.rows * 16});
            panel += count;
          }
          row += rows;
        }
      }
      ASSERT_EQ(Bits(parts), Bits(whole));
    });
  }
}

TEST(MultiplyPanelsTest, HasTheSameBitsOnEveryInstructionSetThatFuses) {
  std::mt19937 random(3);
  const Problem problem(random, 37, 900, 48);
  std::vector<std::string> bits;
  ForEachVectorTarget([&](bool fused) {
    for (const bool transpose : {false, true}) {
      const std::string now =
          Bits(Multiply(problem, transpose, {{problem.bias.data()}}, 0));
      if (fused) bits.push_back(now);
    }
  });
  for (const std::string& one : bits) EXPECT_EQ(one, bits[0]);
}

// A checkpoint that holds NaN must not give states that look sound.
TEST(MultiplyPanelsTest, KeepsNaNThroughEveryActivation) {
  std::mt19937 random(3);
  Problem problem(random, 3, 40, 16);
  problem.matrix[40 + 7] = std::numeric_limits<float>::quiet_NaN();
  ForEachVectorTarget([&](bool) {
    for (const Activation activation :
         {Activation::kNone, Activation::kRelu, Activation::kGelu,
          Activation::kGeluTanh, Activation::kSilu}) {
      const AlignedFloats output = Multiply(
          problem, /*transpose=*/false,
          {{problem.bias.data(), /*accumulate=*/false}, activation}, 0);
      for (int64_t i = 0; i < 3 * kPanelTokens; ++i) {
        EXPECT_EQ(std::isnan(output.data()[i]), i / kPanelTokens == 1) << i;
      }
    }
  });
}

TEST(MultiplyPanelsTest, WritesRowsAndPanelsWhereItIsTold) {
  std::mt19937 random(4);
  const Problem problem(random, 7, 33, 32);
  const AlignedFloats dense = Multiply(problem, false, {}, 0);
  AlignedFloats spread(7 * 100);
  std::fill(spread.data(), spread.data() + spread.size(), -9.0f);
  // Rows of tokens follow each other, as attention needs its values.
  MultiplyPanels(problem.View(false), 7, 33, {problem.panels.data(), 33 * 16},
                 2, {}, {spread.data(), 96, 16});
  for (int64_t row = 0; row < 7; ++row) {
    for (int64_t token = 0; token < 96 && row * 96 + token < 700; ++token) {
      const float expected =
          token < 32
              ? dense.data()[(token / 16) * 7 * 16 + row * 16 + token % 16]
              : -9.0f;
      ASSERT_EQ(spread.data()[row * 96 + token], expected);
    }
  }
}

// Returns the upper halves of floats, which are bfloat16.
std::vector<uint16_t> ToBfloat16(const std::vector<float>& numbers) {
  std::vector<uint16_t> halves;
  for (const float number : numbers) {
    uint32_t bits;
    std::memcpy(&bits, &number, sizeof(bits));
    halves.push_back(static_cast<uint16_t>(bits >> 16));
  }
  return halves;
}

double DecodeFloat16(uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const double mantissa = bits & 1023;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 31) return mantissa == 0 ? sign * INFINITY : NAN;
  if (exponent == 0) return sign * std::ldexp(mantissa, -24);
  return sign * std::ldexp(mantissa + 1024, exponent - 25);
}

TEST(WidenToFloatTest, IsExactForEveryNumber) {
  std::vector<uint16_t> all(65536);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint16_t>(i);
  // Also leaves out the last few, so that the end is not a whole vector.
  for (const int64_t count : {65536, 65533}) {
    ForEachVectorTarget([&](bool) {
      std::vector<float> wide(count + 1, 42.0f);
      WidenToFloat(DType::kBF16, all.data(), count, wide.data());
      for (int64_t i = 0; i < count; ++i) {
        uint32_t bits;
        std::memcpy(&bits, &wide[i], sizeof(bits));
        ASSERT_EQ(bits, static_cast<uint32_t>(i) << 16);
      }
      EXPECT_EQ(wide[count], 42.0f);
      WidenToFloat(DType::kF16, all.data(), count, wide.data());
      for (int64_t i = 0; i < count; ++i) {
        const double expected = DecodeFloat16(all[i]);
        if (std::isnan(expected)) {
          ASSERT_TRUE(std::isnan(wide[i])) << i;
          ASSERT_EQ(std::signbit(wide[i]), (i & 0x8000) != 0) << i;
          continue;
        }
        ASSERT_EQ(wide[i], expected) << i;
      }
      EXPECT_EQ(wide[count], 42.0f);
    });
  }
}

TEST(WidenToFloatDeathTest, EndsTheProgramForATypeWithoutArithmetic) {
  const int32_t stored = 1;
  float wide = 0;
  EXPECT_DEATH(WidenToFloat(DType::kI32, &stored, 1, &wide), "I32");
}

TEST(MultiplyVectorTest, IsWithinItsStatedErrorOfDoublePrecision) {
  std::mt19937 random(5);
  for (int trial = 0; trial < 100; ++trial) {
    const Problem problem(random, Between(random, 1, 30),
                          Between(random, 1, 900), 1);
    const ReferenceProduct expected = MultiplyReference(
        problem.matrix, problem.input, problem.rows, problem.columns, 1);
    const bool accumulate = trial % 3 == 1;
    ForEachVectorTarget([&](bool) {
      std::vector<float> output(problem.rows * 3, 0.5f);
      MultiplyVector(DType::kF32, problem.matrix.data(), problem.columns,
                     problem.rows, problem.columns, problem.input.data(),
                     {{problem.bias.data(), accumulate}}, output.data(), 3);
      for (int64_t row = 0; row < problem.rows; ++row) {
        ASSERT_NEAR(
            output[3 * row],
            expected.sum[row] + problem.bias[row] + (accumulate ? 0.5 : 0.0),
            ErrorBound(problem, expected.magnitude[row] + 4));
        ASSERT_EQ(output[3 * row + 1], 0.5f);
      }
    });
  }
}

TEST(MultiplyPanelsAsVectorsTest, HasTheBitsOfEachTokenAlone) {
  std::mt19937 random(7);
  for (int trial = 0; trial < 60; ++trial) {
    constexpr int64_t kPanels = 2;
    const Problem problem(random, Between(random, 1, 30),
                          Between(random, 1, 900), kPanels * kPanelTokens);
    const int64_t stride = problem.rows * kPanelTokens;
    const Epilogue epilogue = {trial % 2 == 0 ? problem.bias.data() : nullptr,
                               trial % 3 == 1};
    ForEachVectorTarget([&](bool) {
      std::vector<float> actual(kPanels * stride, 0.5f);
      MultiplyPanelsAsVectors(
          problem.matrix.data(), problem.columns, problem.rows, problem.columns,
          {problem.panels.data(), problem.columns * kPanelTokens}, kPanels,
          epilogue, {actual.data(), kPanelTokens, stride});
      for (int64_t token = 0; token < problem.tokens; ++token) {
        std::vector<float> expected(problem.rows, 0.5f);
        MultiplyVector(DType::kF32, problem.matrix.data(), problem.columns,
                       problem.rows, problem.columns,
                       problem.input.data() + token * problem.columns,
                       {epilogue}, expected.data(), 1);
        for (int64_t row = 0; row < problem.rows; ++row) {
          ASSERT_EQ(actual[token / kPanelTokens * stride + row * kPanelTokens +
                           token % kPanelTokens],
                    expected[row])
              << problem.columns << " columns, row " << row;
        }
      }
    });
  }
}

TEST(MultiplyVectorTest, HasTheSameBitsHoweverItIsCutAndWhereverItRuns) {
  std::mt19937 random(6);
  for (int trial = 0; trial < 40; ++trial) {
    const Problem problem(random, Between(random, 1, 30),
                          Between(random, 1, 1300), 1);
    std::vector<std::vector<float>> fused_outputs;
    ForEachVectorTarget([&](bool fused) {
      std::vector<float> whole(problem.rows);
      MultiplyVector(DType::kF32, problem.matrix.data(), problem.columns,
                     problem.rows, problem.columns, problem.input.data(),
                     {{problem.bias.data(), false}, Activation::kGelu},
                     whole.data(), 1);
      std::vector<float> parts(problem.rows);
      for (int64_t column = 0; column < problem.columns; column += 512) {
        const int64_t columns =
            std::min<int64_t>(512, problem.columns - column);
        for (int64_t row = 0; row < problem.rows;) {
          const int64_t rows = Between(random, 1, problem.rows - row);
          MultiplyVector(
              DType::kF32,
              problem.matrix.data() + row * problem.columns + column,
              problem.columns, rows, columns, problem.input.data() + column,
              {{column == 0 ? problem.bias.data() + row : nullptr, column != 0},
               column + columns == problem.columns ? Activation::kGelu
                                                   : Activation::kNone},
              parts.data() + row, 1);
          row += rows;
        }
      }
      ASSERT_EQ(parts, whole);
      if (fused) fused_outputs.push_back(whole);
    });
    for (const auto& one : fused_outputs) EXPECT_EQ(one, fused_outputs[0]);
  }
}

TEST(MultiplyVectorTest, ReadsNarrowWeightsAsIfTheyHadBeenWidened) {
  std::mt19937 random(7);
  const int64_t rows = 9;
  for (const int64_t columns : {1, 15, 16, 40, 300}) {
    const std::vector<float> numbers = RandomNumbers(random, rows * columns);
    const std::vector<uint16_t> narrow = ToBfloat16(numbers);
    const std::vector<float> input = RandomNumbers(random, columns);
    for (const DType type : {DType::kBF16, DType::kF16}) {
      // Any bits are valid as float16, except those of infinities and NaNs.
      std::vector<uint16_t> stored = narrow;
      if (type == DType::kF16) {
        for (uint16_t& bits : stored) bits &= 0xbfff;
      }
      ForEachVectorTarget([&](bool) {
        std::vector<float> wide(rows * columns);
        WidenToFloat(type, stored.data(), rows * columns, wide.data());
        std::vector<float> expected(rows);
        MultiplyVector(DType::kF32, wide.data(), columns, rows, columns,
                       input.data(), {}, expected.data(), 1);
        std::vector<float> actual(rows);
        MultiplyVector(type, stored.data(), columns, rows, columns,
                       input.data(), {}, actual.data(), 1);
        EXPECT_EQ(actual, expected) << columns;
      });
    }
  }
}

// Returns the sums of one block of columns, as MultiplyPanels computes them for
// a token.
std::vector<float> BlockSums(const Problem& problem) {
  const AlignedFloats panels = ToPanels(problem.input, problem.columns);
  AlignedFloats output(problem.rows * kPanelTokens);
  MultiplyPanels(problem.View(true), problem.rows, problem.columns,
                 {panels.data(), 0}, 1, {}, {output.data(), kPanelTokens, 0});
  std::vector<float> sums;
  for (int64_t row = 0; row < problem.rows; ++row) {
    sums.push_back(output.data()[row * kPanelTokens]);
  }
  return sums;
}

TEST(AddScaledRowsTest, HasTheBitsOfABlockOfPanelsHoweverItIsCut) {
  std::mt19937 random(8);
  for (int trial = 0; trial < 60; ++trial) {
    const Problem problem(random, Between(random, 1, 70),
                          Between(random, 1, kSumBlock), 1);
    ForEachVectorTarget([&](bool) {
      std::vector<float> sums(problem.rows + 1);
      sums[problem.rows] = 42.0f;
      for (int64_t column = 0; column < problem.columns;) {
        const int64_t count = Between(random, 1, problem.columns - column);
        const int64_t cut = Between(random, 0, problem.rows);
        const float* at = problem.transposed.data() + column * problem.rows;
        AddScaledRows(DType::kF32, at, problem.rows, count, cut,
                      problem.input.data() + column, sums.data());
        AddScaledRows(DType::kF32, at + cut, problem.rows, count,
                      problem.rows - cut, problem.input.data() + column,
                      sums.data() + cut);
        column += count;
      }
      EXPECT_EQ(sums.back(), 42.0f);
      sums.pop_back();
      ASSERT_EQ(sums, BlockSums(problem));
    });
  }
}

TEST(AddScaledRowsTest, ReadsNarrowWeightsAsIfTheyHadBeenWidened) {
  std::mt19937 random(9);
  for (const int64_t columns : {1, 15, 16, 70}) {
    const int64_t rows = 13;
    std::vector<uint16_t> stored =
        ToBfloat16(RandomNumbers(random, rows * columns));
    for (uint16_t& bits : stored) bits &= 0xbfff;
    const std::vector<float> scales = RandomNumbers(random, rows);
    for (const DType type : {DType::kBF16, DType::kF16}) {
      ForEachVectorTarget([&](bool) {
        std::vector<float> wide(rows * columns);
        WidenToFloat(type, stored.data(), rows * columns, wide.data());
        std::vector<float> expected(columns, 0.5f);
        AddScaledRows(DType::kF32, wide.data(), columns, rows, columns,
                      scales.data(), expected.data());
        std::vector<float> actual(columns, 0.5f);
        AddScaledRows(type, stored.data(), columns, rows, columns,
                      scales.data(), actual.data());
        EXPECT_EQ(actual, expected) << columns;
      });
    }
  }
}

}  // namespace
}  // namespace footprint
