#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "footprint/base/simd/dense_product.h"
#include "footprint/base/simd/each_vector_target.h"
#include "footprint/base/simd/reference_product.h"
#include "footprint/base/simd/vector_targets.h"
#include "gtest/gtest.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "base/simd/dense_tile_test.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// foreach_target.h must come first.
#include "footprint/base/simd/dense_tile-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace footprint {
namespace HWY_NAMESPACE {

int64_t TilePanels() { return kTilePanels; }

void MultiplyOnePanel(const MatrixView& matrix, int64_t rows, int64_t columns,
                      const PanelView& input, const Epilogue& epilogue,
                      const PanelOutput& output) {
  MultiplySumBlock<1, kPanelWidth>(matrix, rows, columns, input, epilogue,
                                   output);
}

void MultiplyTilePanels(const MatrixView& matrix, int64_t rows, int64_t columns,
                        const PanelView& input, const Epilogue& epilogue,
                        const PanelOutput& output) {
  MultiplySumBlock<kTilePanels, kPanelWidth>(matrix, rows, columns, input,
                                             epilogue, output);
}

void MultiplyInMatrix(const MatrixView& matrix, int64_t rows, int64_t columns,
                      const MatrixView& input, const Epilogue& epilogue,
                      const PanelOutput& output) {
  MultiplySumBlock<1, kPanelWidth>(matrix, rows, columns, input, epilogue,
                                   output);
}

void MultiplyOneColumn(const MatrixView& matrix, int64_t rows, int64_t columns,
                       const MatrixView& input, const Epilogue& epilogue,
                       const PanelOutput& output) {
  MultiplySumBlock<1, 1>(matrix, rows, columns, input, epilogue, output);
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace footprint
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace footprint {

HWY_EXPORT(TilePanels);
HWY_EXPORT(MultiplyOnePanel);
HWY_EXPORT(MultiplyTilePanels);
HWY_EXPORT(MultiplyInMatrix);
HWY_EXPORT(MultiplyOneColumn);

namespace {

using Numbers = std::vector<float>;

int64_t Between(std::mt19937* random, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(*random);
}

Numbers RandomNumbers(std::mt19937* random, int64_t count) {
  std::normal_distribution<float> normal;
  Numbers numbers(static_cast<size_t>(count));
  for (float& number : numbers) number = normal(*random);
  return numbers;
}

bool SameBits(const Numbers& a, const Numbers& b) {
  return a.size() == b.size() &&
         std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// A product of whole panels, with room between the rows of the output and
// without any alignment.
struct Problem {
  Problem(std::mt19937* random, int64_t rows, int64_t columns, int64_t panels)
      : rows(rows),
        columns(columns),
        panels(panels),
        matrix(RandomNumbers(random, rows * columns)),
        input(RandomNumbers(random, panels * columns * kPanelWidth)),
        bias(RandomNumbers(random, rows)),
        before(RandomNumbers(random, rows * RowStride())),
        transposed(Between(random, 0, 1) == 1) {
    if (Between(random, 0, 1) == 1) epilogue.bias = bias.data();
    epilogue.accumulate = Between(random, 0, 1) == 1;
  }

  int64_t RowStride() const { return panels * kPanelWidth + 3; }
  MatrixView Matrix() const {
    return transposed ? MatrixView{matrix.data(), 1, rows}
                      : MatrixView{matrix.data(), columns, 1};
  }
  PanelView Input() const { return {input.data(), columns * kPanelWidth}; }
  PanelOutput OutputIn(Numbers* numbers) const {
    return {numbers->data(), RowStride(), kPanelWidth};
  }
  Numbers Expected(bool fused) const {
    Numbers output = before;
    MultiplyPanelsReference(Matrix(), rows, columns, Input(), panels, epilogue,
                            OutputIn(&output), fused);
    return output;
  }

  int64_t rows;
  int64_t columns;
  int64_t panels;
  Numbers matrix;
  Numbers input;
  Numbers bias;
  Numbers before;
  bool transposed;
  Epilogue epilogue;
};

// More rows than two tiles have, so that every remainder occurs.
constexpr int64_t kMostRows = 40;

TEST(DenseTileTest, OnePanelHasTheBitsOfTheNaiveProduct) {
  std::mt19937 random(1);
  for (int64_t rows = 1; rows <= kMostRows; ++rows) {
    const Problem problem(&random, rows, Between(&random, 1, kSumBlock), 1);
    ForEachVectorTarget([&problem](bool fused) {
      Numbers output = problem.before;
      HWY_DYNAMIC_DISPATCH(MultiplyOnePanel)
      (problem.Matrix(), problem.rows, problem.columns, problem.Input(),
       problem.epilogue, problem.OutputIn(&output));
      EXPECT_TRUE(SameBits(output, problem.Expected(fused)))
          << problem.rows << " x " << problem.columns;
    });
  }
}

TEST(DenseTileTest, PanelsSideBySideHaveTheBitsOfTheNaiveProduct) {
  std::mt19937 random(2);
  for (int64_t rows = 1; rows <= kMostRows; ++rows) {
    ForEachVectorTarget([&random, rows](bool fused) {
      const Problem problem(&random, rows, Between(&random, 1, kSumBlock),
                            HWY_DYNAMIC_DISPATCH(TilePanels)());
      Numbers output = problem.before;
      HWY_DYNAMIC_DISPATCH(MultiplyTilePanels)
      (problem.Matrix(), problem.rows, problem.columns, problem.Input(),
       problem.epilogue, problem.OutputIn(&output));
      EXPECT_TRUE(SameBits(output, problem.Expected(fused)))
          << problem.rows << " x " << problem.columns;
    });
  }
}

// One panel is given as a matrix of kPanelWidth columns.
TEST(DenseTileTest, ColumnsOfAMatrixHaveTheBitsOfAPanel) {
  std::mt19937 random(3);
  for (int64_t rows = 1; rows <= kMostRows; ++rows) {
    const Problem problem(&random, rows, Between(&random, 1, kSumBlock), 1);
    // There is room between the input's rows.
    const int64_t stride = kPanelWidth + Between(&random, 0, 5);
    Numbers input(static_cast<size_t>(problem.columns * stride));
    for (int64_t i = 0; i < problem.columns; ++i) {
      std::copy_n(problem.input.begin() + i * kPanelWidth, kPanelWidth,
                  input.begin() + i * stride);
    }
    ForEachVectorTarget([&](bool fused) {
      Numbers whole = problem.before;
      Numbers columns = problem.before;
      HWY_DYNAMIC_DISPATCH(MultiplyInMatrix)
      (problem.Matrix(), problem.rows, problem.columns,
       MatrixView{input.data(), stride, 1}, problem.epilogue,
       problem.OutputIn(&whole));
      for (int64_t i = 0; i < kPanelWidth; ++i) {
        HWY_DYNAMIC_DISPATCH(MultiplyOneColumn)
        (problem.Matrix(), problem.rows, problem.columns,
         MatrixView{input.data() + i, stride, 1}, problem.epilogue,
         {columns.data() + i, problem.RowStride(), 0});
      }
      EXPECT_TRUE(SameBits(whole, problem.Expected(fused))) << rows;
      EXPECT_TRUE(SameBits(columns, problem.Expected(fused))) << rows;
    });
  }
}

// The naive product takes a matrix of several blocks as a whole. The tile takes
// it block by block, all but the first with `accumulate`.
TEST(DenseTileTest, BlocksOfColumnsAreAddedFromTheLeft) {
  std::mt19937 random(4);
  Problem problem(&random, 17, 2 * kSumBlock + 31, 1);
  ForEachVectorTarget([&problem](bool fused) {
    Numbers output = problem.before;
    const MatrixView matrix = problem.Matrix();
    Epilogue epilogue = problem.epilogue;
    for (int64_t column = 0; column < problem.columns; column += kSumBlock) {
      HWY_DYNAMIC_DISPATCH(MultiplyOnePanel)
      ({matrix.data + column * matrix.column_stride, matrix.row_stride,
        matrix.column_stride},
       problem.rows, std::min(kSumBlock, problem.columns - column),
       {problem.input.data() + column * kPanelWidth, 0}, epilogue,
       problem.OutputIn(&output));
      epilogue = {nullptr, true};
    }
    EXPECT_TRUE(SameBits(output, problem.Expected(fused)));
  });
}

}  // namespace
}  // namespace footprint
#endif  // HWY_ONCE
