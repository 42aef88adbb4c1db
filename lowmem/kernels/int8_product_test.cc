#include "footprint/lowmem/kernels/int8_product.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "footprint/base/simd/dense_product.h"
#include "footprint/base/simd/each_vector_target.h"
#include "footprint/base/tensor/dtype.h"
#include "footprint/lowmem/kernels/matrix_product.h"
#include "footprint/lowmem/kernels/quantised_elements.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using Numbers = std::vector<float>;

constexpr DType kTypes[] = {DType::kQ4_0, DType::kQ4_1, DType::kQ5_0,
                            DType::kQ5_1, DType::kQ8_0, DType::kQ4K,
                            DType::kQ5K,  DType::kQ6K};
constexpr int64_t kGroup = 32;

bool IsLarge(DType type) { return BlockOf(type).elements > kGroup; }

// A group of one token's features, by the header's words.
struct RoundedGroup {
  int numbers[kGroup];
  float step = 0;
};

RoundedGroup RoundOne(const float* x) {
  RoundedGroup group;
  float largest = 0;
  for (int i = 0; i < kGroup; ++i) largest = std::max(largest, std::fabs(x[i]));
  group.step = largest / 127.0f;
  for (int i = 0; i < kGroup; ++i) {
    group.numbers[i] =
        largest == 0
            ? 0
            : static_cast<int>(std::nearbyint(x[i] * (127.0f / largest)));
  }
  return group;
}

// A product of a random matrix, whose rows have gaps, with random tokens.
struct Problem {
  Problem(std::mt19937& random, DType type, int64_t rows, int64_t columns,
          int64_t tokens)
      : type(type),
        rows(rows),
        columns(columns),
        tokens(tokens),
        row_bytes(BytesOfElements(type, columns + kSumBlock)),
        blocks(RandomBlocks(random, type, rows * (columns + kSumBlock))),
        input(columns * tokens),
        bias(rows) {
    std::normal_distribution<float> normal;
    for (float& x : input) x = normal(random);
    // Magnitudes differ from group to group; one is all zero.
    for (int64_t i = 0; i < columns * tokens; ++i) {
      input[i] *= std::exp2(static_cast<float>(i / kGroup % 7));
    }
    std::fill_n(input.begin(), kGroup, 0.0f);
    for (float& x : bias) x = normal(random);
  }

  QuantisedView Matrix() const {
    return {type, blocks.data(), row_bytes, rows, columns};
  }
  // [token][feature]
  const float* Token(int64_t token) const { return &input[token * columns]; }
  // In panels, the padding zero.
  Numbers Panels() const {
    const int64_t panels = (tokens + kPanelWidth - 1) / kPanelWidth;
    Numbers result(panels * columns * kPanelWidth);
    for (int64_t token = 0; token < tokens; ++token) {
      for (int64_t i = 0; i < columns; ++i) {
        result[(token / kPanelWidth * columns + i) * kPanelWidth +
               token % kPanelWidth] = Token(token)[i];
      }
    }
    return result;
  }
  QuantisedElement Element(int64_t row, int64_t column) const {
    const DTypeBlock block = BlockOf(type);
    return ElementOf(
        type, &blocks[row * row_bytes + column / block.elements * block.bytes],
        static_cast<int>(column % block.elements));
  }

  // One group's product, as the header has it.
  float Term(int64_t row, int64_t token, int64_t column) const {
    const RoundedGroup x = RoundOne(Token(token) + column);
    int64_t sum = 0;
    int x_sum = 0;
    for (int i = 0; i < kGroup; ++i) {
      const QuantisedElement element = Element(row, column + i);
      sum += element.number * element.factor * x.numbers[i];
      x_sum += x.numbers[i];
    }
    const QuantisedElement first = Element(row, column);
    const float term = first.step * x.step * static_cast<float>(sum);
    if (first.least == 0) return term;
    const float moved = x.step * static_cast<float>(x_sum);
    return term + first.least * moved;
  }

  float Expected(int64_t row, int64_t token, float start) const {
    float total = start;
    for (int64_t block = 0; block < columns; block += kSumBlock) {
      float sum = 0;
      for (int64_t column = block;
           column < std::min(columns, block + kSumBlock); column += kGroup) {
        sum += Term(row, token, column);
      }
      total += sum;
    }
    return total;
  }

  DType type;
  int64_t rows;
  int64_t columns;
  int64_t tokens;
  int64_t row_bytes;
  std::vector<uint8_t> blocks;
  Numbers input;
  Numbers bias;
};

std::vector<char> RoundedToken(const Problem& problem, int64_t token) {
  std::vector<char> rounded(Int8Bytes(problem.columns, 1), 'x');
  RoundVector(problem.Token(token), problem.columns, rounded.data());
  return rounded;
}

std::vector<char> RoundedPanels(const Problem& problem) {
  std::vector<char> rounded(Int8Bytes(problem.columns, kPanelWidth) *
                            ((problem.tokens + kPanelWidth - 1) / kPanelWidth));
  const Numbers panels = problem.Panels();
  RoundPanels({panels.data(), problem.columns * kPanelWidth}, problem.columns,
              (problem.tokens + kPanelWidth - 1) / kPanelWidth, rounded.data());
  return rounded;
}

// [row][panel][lane]
Numbers MultiplyPanelsOf(const Problem& problem, const Epilogue& epilogue,
                         float before) {
  const int64_t panels = (problem.tokens + kPanelWidth - 1) / kPanelWidth;
  Numbers output(problem.rows * panels * kPanelWidth, before);
  std::vector<char> scratch(problem.rows * Int8RowBytes(problem.columns));
  const std::vector<char> rounded = RoundedPanels(problem);
  MultiplyInt8Panels(
      problem.Matrix(), {rounded.data(), problem.columns}, panels, epilogue,
      {output.data(), panels * kPanelWidth, kPanelWidth}, scratch.data());
  return output;
}

int64_t ColumnsFor(std::mt19937& random, DType type) {
  const int64_t unit = BlockOf(type).elements;
  const int64_t most = IsLarge(type) ? 3 : 20;
  return unit * std::uniform_int_distribution<int64_t>(1, most)(random);
}

TEST(Int8ProductTest, AVectorHasTheBitsOfTheFormula) {
  std::mt19937 random(1);
  for (const DType type : kTypes) {
    for (const int64_t rows : {1, 3, 4, 70}) {
      const int64_t columns = ColumnsFor(random, type);
      const Problem problem(random, type, rows, columns, 1);
      ForEachVectorTarget([&](bool) {
        const std::vector<char> rounded = RoundedToken(problem, 0);
        for (const bool accumulate : {false, true}) {
          Numbers output(2 * rows, 0.5f);
          MultiplyInt8Vector(problem.Matrix(), {rounded.data(), columns},
                             {problem.bias.data(), accumulate}, output.data(),
                             2);
          for (int64_t row = 0; row < rows; ++row) {
            const float start =
                accumulate ? 0.5f + problem.bias[row] : problem.bias[row];
            ASSERT_EQ(output[2 * row], problem.Expected(row, 0, start))
                << DTypeName(type) << " " << columns << " row " << row;
            ASSERT_EQ(output[2 * row + 1], 0.5f);
          }
        }
      });
    }
  }
}

TEST(Int8ProductTest, PanelsHaveTheBitsOfTheFormula) {
  std::mt19937 random(2);
  for (const DType type : kTypes) {
    for (const int64_t rows : {1, 5, 14}) {
      const int64_t columns = ColumnsFor(random, type);
      const int64_t tokens = 37;  // more than two panels, the last not full
      const Problem problem(random, type, rows, columns, tokens);
      ForEachVectorTarget([&](bool) {
        for (const bool accumulate : {false, true}) {
          const Numbers output = MultiplyPanelsOf(
              problem, {problem.bias.data(), accumulate}, 0.5f);
          for (int64_t row = 0; row < rows; ++row) {
            const float start =
                accumulate ? 0.5f + problem.bias[row] : problem.bias[row];
            for (int64_t token = 0; token < tokens; ++token) {
              ASSERT_EQ(output[row * 3 * kPanelWidth + token],
                        problem.Expected(row, token, start))
                  << DTypeName(type) << " " << columns << " row " << row
                  << " token " << token;
            }
          }
        }
      });
    }
  }
}

// A product that is cut between columns has the bits of the whole.
TEST(Int8ProductTest, PartsOfTheColumnsAddUp) {
  std::mt19937 random(3);
  for (const DType type : kTypes) {
    const int64_t columns = IsLarge(type) ? 3 * kSumBlock : 2 * kSumBlock + 96;
    const Problem problem(random, type, 9, columns, 1);
    ForEachVectorTarget([&](bool) {
      const std::vector<char> rounded = RoundedToken(problem, 0);
      const std::vector<char> panel = RoundedPanels(problem);
      std::vector<char> scratch(problem.rows * Int8RowBytes(columns));
      Numbers whole(problem.rows);
      MultiplyInt8Vector(problem.Matrix(), {rounded.data(), columns}, {},
                         whole.data(), 1);
      Numbers parts(problem.rows);
      Numbers panel_parts(problem.rows * kPanelWidth);
      for (int64_t first = 0; first < columns; first += kSumBlock) {
        QuantisedView part = problem.Matrix();
        part.data = problem.blocks.data() + BytesOfElements(type, first);
        part.columns = std::min(kSumBlock, columns - first);
        const Epilogue epilogue = {nullptr, first > 0};
        MultiplyInt8Vector(part, {rounded.data(), columns, first}, epilogue,
                           parts.data(), 1);
        MultiplyInt8Panels(part, {panel.data(), columns, first}, 1, epilogue,
                           {panel_parts.data(), kPanelWidth, 0},
                           scratch.data());
      }
      for (int64_t row = 0; row < problem.rows; ++row) {
        ASSERT_EQ(parts[row], whole[row]) << DTypeName(type) << " " << row;
        ASSERT_EQ(panel_parts[row * kPanelWidth], whole[row])
            << DTypeName(type) << " " << row;
      }
    });
  }
}

// Numbers that make the largest sums there are.
TEST(Int8ProductTest, ExtremeNumbersDoNotOverflow) {
  for (const DType type : kTypes) {
    std::mt19937 random(4);
    Problem problem(random, type, 4, kSumBlock, kPanelWidth);
    for (const int fill : {0x80, 0x7f, 0xff, 0x00}) {
      std::fill(problem.blocks.begin(), problem.blocks.end(),
                static_cast<uint8_t>(fill));
      const DTypeBlock block = BlockOf(type);
      for (size_t at = 0; at < problem.blocks.size(); at += block.bytes) {
        // A step of one, and a least value that is one where there is one.
        const size_t scale = at + (type == DType::kQ6K ? 208 : 0);
        problem.blocks[scale] = 0;
        problem.blocks[scale + 1] = 0x3c;
        if (type != DType::kQ6K && type != DType::kQ4_0 &&
            type != DType::kQ5_0 && type != DType::kQ8_0) {
          problem.blocks[scale + 2] = 0;
          problem.blocks[scale + 3] = 0x3c;
        }
      }
      for (const float x : {127.0f, -127.0f}) {
        std::fill(problem.input.begin(), problem.input.end(), x);
        ForEachVectorTarget([&](bool) {
          const Numbers panels = MultiplyPanelsOf(problem, {}, 0);
          const std::vector<char> rounded = RoundedToken(problem, 0);
          Numbers output(problem.rows);
          MultiplyInt8Vector(problem.Matrix(),
                             {rounded.data(), problem.columns}, {},
                             output.data(), 1);
          for (int64_t row = 0; row < problem.rows; ++row) {
            const float expected = problem.Expected(row, 0, 0);
            ASSERT_EQ(output[row], expected) << DTypeName(type) << " " << fill;
            ASSERT_EQ(panels[row * kPanelWidth + 15], expected)
                << DTypeName(type) << " " << fill;
          }
        });
      }
    }
  }
}

// Against double precision: the bound of the header, and the spread.
TEST(Int8ProductTest, ErrsAsTheHeaderSays) {
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  constexpr int64_t kRows = 200;
  constexpr int64_t kColumns = 1024;
  for (const DType type : kTypes) {
    Problem problem(random, type, kRows, kColumns, 1);
    for (float& x : problem.input) x = normal(random);
    const std::vector<char> rounded = RoundedToken(problem, 0);
    Numbers output(kRows);
    MultiplyInt8Vector(problem.Matrix(), {rounded.data(), kColumns}, {},
                       output.data(), 1);
    double error_squares = 0;
    double spread_squares = 0;
    for (int64_t row = 0; row < kRows; ++row) {
      double exact = 0;
      double bound = 0;
      for (int64_t i = 0; i < kColumns; ++i) {
        const double weight = problem.Element(row, i).value();
        const double x = problem.input[i];
        const double step =
            RoundOne(problem.Token(0) + i / kGroup * kGroup).step;
        exact += weight * x;
        bound += std::fabs(weight) * step / 2;
        spread_squares += weight * weight;
      }
      const double error = std::fabs(output[row] - exact);
      ASSERT_LE(error, bound * (1 + 1e-4)) << DTypeName(type);
      error_squares += error * error;
    }
    const double share = std::sqrt(error_squares / spread_squares);
    RecordProperty(DTypeName(type).data(), std::to_string(share));
    EXPECT_LT(share, 0.007) << DTypeName(type);
    // It is a rounding error, which a mistake of the oracle would not leave.
    EXPECT_GT(share, 0.003) << DTypeName(type);
  }
}

TEST(Int8ProductTest, WhatIsNotANumberStaysOne) {
  std::mt19937 random(6);
  Problem problem(random, DType::kQ4_0, 4, 2 * kSumBlock, kPanelWidth);
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(),
                          std::numeric_limits<float>::infinity(),
                          -std::numeric_limits<float>::infinity()}) {
    problem.input[5 * problem.columns + 300] = bad;
    ForEachVectorTarget([&](bool) {
      const Numbers panels = MultiplyPanelsOf(problem, {}, 0);
      const std::vector<char> rounded = RoundedToken(problem, 5);
      Numbers output(problem.rows);
      MultiplyInt8Vector(problem.Matrix(), {rounded.data(), problem.columns},
                         {}, output.data(), 1);
      for (int64_t row = 0; row < problem.rows; ++row) {
        EXPECT_TRUE(std::isnan(output[row]));
        for (int64_t lane = 0; lane < kPanelWidth; ++lane) {
          EXPECT_EQ(std::isnan(panels[row * kPanelWidth + lane]), lane == 5);
        }
      }
    });
  }
}

// Subnormal features, whose inverse would be infinite, are zero.
TEST(Int8ProductTest, TinyFeaturesBecomeZero) {
  std::mt19937 random(7);
  Problem problem(random, DType::kQ8_0, 4, kSumBlock, kPanelWidth);
  for (float& x : problem.input) x = 1e-40f;
  ForEachVectorTarget([&](bool) {
    for (const float x : MultiplyPanelsOf(problem, {}, 0)) EXPECT_EQ(x, 0);
    const std::vector<char> rounded = RoundedToken(problem, 0);
    Numbers output(problem.rows, 1.0f);
    MultiplyInt8Vector(problem.Matrix(), {rounded.data(), problem.columns}, {},
                       output.data(), 1);
    for (const float x : output) EXPECT_EQ(x, 0);
  });
}

TEST(Int8ProductTest, HasAllQuantisedTypes) {
  for (const DType type : kTypes) EXPECT_TRUE(HasInt8Product(type));
  for (const DType type :
       {DType::kF32, DType::kBF16, DType::kF16, DType::kI8}) {
    EXPECT_FALSE(HasInt8Product(type));
  }
}

TEST(Int8ProductDeathTest, RefusesAnotherType) {
  const std::vector<char> rounded(Int8Bytes(32, 1));
  float output = 0;
  EXPECT_DEATH(MultiplyInt8Vector({DType::kF32, &output, 4, 1, 32},
                                  {rounded.data(), 32}, {}, &output, 1),
               "no products of whole numbers on F32");
}

// No product is promised for a type without one, which would end the program.
TEST(HasInt8ProductTest, NamesTheQuantisedTypesThatHaveOne) {
  for (const DType type : kTypes) EXPECT_TRUE(HasInt8Product(type));
  for (const DType type : {DType::kF32, DType::kF16, DType::kBF16}) {
    EXPECT_FALSE(HasInt8Product(type)) << DTypeName(type);
  }
}

}  // namespace
}  // namespace footprint
