// What adam.h promises.

#include "footprint/gates/deployments/tabular/adam.h"

#include <cmath>
#include <vector>

#include "gtest/gtest.h"

namespace footprint {
namespace tabular {
namespace {

TEST(AdamOptimizerTest, TakesAFirstStepOfTheLearningRate) {
  std::vector<double> parameters = {1, 1, 1};
  AdamOptimizer optimizer(3, /*learning_rate=*/0.01);
  optimizer.Step({1e-3, -1e5, 0}, absl::MakeSpan(parameters));
  EXPECT_NEAR(parameters[0], 0.99, 1e-5);
  EXPECT_NEAR(parameters[1], 1.01, 1e-5);
  EXPECT_EQ(parameters[2], 1);
}

TEST(AdamOptimizerTest, FollowsTheAuthorsFormula) {
  std::vector<double> parameters = {0.5};
  AdamOptimizer optimizer(1, /*learning_rate=*/0.1);
  double expected = 0.5;
  double m = 0;
  double v = 0;
  for (int t = 1; t <= 50; ++t) {
    const double gradient = std::sin(t) + 0.3;
    optimizer.Step({gradient}, absl::MakeSpan(parameters));
    m = 0.9 * m + 0.1 * gradient;
    v = 0.999 * v + 0.001 * gradient * gradient;
    expected -= 0.1 * (m / (1 - std::pow(0.9, t))) /
                std::sqrt(v / (1 - std::pow(0.999, t)));
    EXPECT_NEAR(parameters[0], expected, 1e-5);
  }
}

TEST(AdamOptimizerTest, FindsTheLowestPointOfASkewedBowl) {
  std::vector<double> parameters = {5, -3};
  AdamOptimizer optimizer(2, /*learning_rate=*/0.05);
  for (int i = 0; i < 3000; ++i) {
    optimizer.Step({200 * (parameters[0] - 1), 0.02 * (parameters[1] + 2)},
                   absl::MakeSpan(parameters));
  }
  EXPECT_NEAR(parameters[0], 1, 1e-3);
  EXPECT_NEAR(parameters[1], -2, 1e-2);
}

}  // namespace
}  // namespace tabular
}  // namespace footprint
