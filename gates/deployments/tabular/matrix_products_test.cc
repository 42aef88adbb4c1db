#include "footprint/gates/deployments/tabular/matrix_products.h"

#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace footprint {
namespace tabular {
namespace {

// Three matrices of one product, filled with small whole numbers: sums of their
// products are exact, so the order of summation does not matter.
struct Operands {
  Operands(MatrixShape shape, size_t samples)
      : weights(shape.row_count * shape.column_count),
        inputs(shape.column_count * samples),
        outputs(shape.row_count * samples) {
    std::mt19937_64 random(samples);
    std::uniform_int_distribution<int> number(-9, 9);
    for (auto* matrix : {&weights, &inputs, &outputs}) {
      for (double& entry : *matrix) entry = number(random);
    }
  }

  std::vector<double> weights;
  std::vector<double> inputs;
  std::vector<double> outputs;
};

struct Case {
  MatrixShape shape;
  size_t samples;
};

// Below, at, and above the width of a slice, and the empty ones.
const Case kCases[] = {
    {{1, 1}, 1},   {{3, 5}, 8},    {{50, 127}, 32}, {{50, 128}, 32},
    {{7, 129}, 5}, {{2, 300}, 64}, {{50, 50}, 1},   {{4, 0}, 3},
};

TEST(MatrixProductsTest, MultiplyAddEqualsThreeLoops) {
  for (const Case& c : kCases) {
    Operands operands(c.shape, c.samples);
    std::vector<double> wanted = operands.outputs;
    for (size_t s = 0; s < c.samples; ++s) {
      for (size_t j = 0; j < c.shape.column_count; ++j) {
        for (size_t i = 0; i < c.shape.row_count; ++i) {
          wanted[s * c.shape.row_count + i] +=
              operands.weights[j * c.shape.row_count + i] *
              operands.inputs[s * c.shape.column_count + j];
        }
      }
    }
    MultiplyAdd(c.shape, operands.weights.data(), c.samples,
                operands.inputs.data(), operands.outputs.data());
    EXPECT_EQ(operands.outputs, wanted);
  }
}

TEST(MatrixProductsTest, MultiplyByTransposedEqualsThreeLoops) {
  for (const Case& c : kCases) {
    Operands operands(c.shape, c.samples);
    std::vector<double> wanted(operands.weights.size(), 0.0);
    for (size_t s = 0; s < c.samples; ++s) {
      for (size_t j = 0; j < c.shape.column_count; ++j) {
        for (size_t i = 0; i < c.shape.row_count; ++i) {
          wanted[j * c.shape.row_count + i] +=
              operands.outputs[s * c.shape.row_count + i] *
              operands.inputs[s * c.shape.column_count + j];
        }
      }
    }
    MultiplyByTransposed(c.shape, operands.outputs.data(), c.samples,
                         operands.inputs.data(), operands.weights.data());
    EXPECT_EQ(operands.weights, wanted);
  }
}

TEST(MatrixProductsTest, MultiplyTransposedEqualsThreeLoops) {
  for (const Case& c : kCases) {
    Operands operands(c.shape, c.samples);
    std::vector<double> wanted(operands.inputs.size(), 0.0);
    for (size_t s = 0; s < c.samples; ++s) {
      for (size_t j = 0; j < c.shape.column_count; ++j) {
        for (size_t i = 0; i < c.shape.row_count; ++i) {
          wanted[s * c.shape.column_count + j] +=
              operands.weights[j * c.shape.row_count + i] *
              operands.outputs[s * c.shape.row_count + i];
        }
      }
    }
    MultiplyTransposed(c.shape, operands.weights.data(), c.samples,
                       operands.outputs.data(), operands.inputs.data());
    EXPECT_EQ(operands.inputs, wanted);
  }
}

}  // namespace
}  // namespace tabular
}  // namespace footprint
