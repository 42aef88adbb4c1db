#include "footprint/gates/deployments/tabular/estimators/minimum_norm_solution.h"

#include <random>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace tabular {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

constexpr double kThreshold = 1e-12;

TEST(SolveMinimumNormTest, SolvesARegularSystem) {
  std::vector<double> square = {2, 1, 1, 3};  // columns (2, 1) and (1, 3)
  const std::vector<double> right_side = {5, 10};
  std::vector<double> solution(2);
  SolveMinimumNorm(2, 2, kThreshold, square.data(), right_side.data(),
                   solution.data());
  EXPECT_THAT(solution,
              ElementsAre(DoubleNear(1, 1e-12), DoubleNear(3, 1e-12)));
}

TEST(SolveMinimumNormTest, EqualColumnsShareTheirCoefficient) {
  std::vector<double> square = {1, 1, 1, 1};
  const std::vector<double> right_side = {4, 4};
  std::vector<double> solution(2);
  SolveMinimumNorm(2, 2, kThreshold, square.data(), right_side.data(),
                   solution.data());
  EXPECT_THAT(solution,
              ElementsAre(DoubleNear(2, 1e-12), DoubleNear(2, 1e-12)));
}

TEST(SolveMinimumNormTest, TheThresholdDecidesWhatIsDetermined) {
  const std::vector<double> square = {1, 0, 1, 1e-6};
  const std::vector<double> right_side = {1, 1e-6};
  std::vector<double> solution(2);
  std::vector<double> overwritten = square;
  SolveMinimumNorm(2, 2, 1e-9, overwritten.data(), right_side.data(),
                   solution.data());
  EXPECT_THAT(solution, ElementsAre(DoubleNear(0, 1e-9), DoubleNear(1, 1e-9)));
  overwritten = square;
  SolveMinimumNorm(2, 2, 1e-3, overwritten.data(), right_side.data(),
                   solution.data());
  EXPECT_THAT(solution,
              ElementsAre(DoubleNear(0.5, 1e-5), DoubleNear(0.5, 1e-5)));
}

TEST(SolveMinimumNormTest, LeavesWhatLiesBetweenColumnsAlone) {
  std::vector<double> square = {2, 1, 77, 1, 3, 78};
  const std::vector<double> right_side = {5, 10};
  std::vector<double> solution(2);
  SolveMinimumNorm(2, 3, kThreshold, square.data(), right_side.data(),
                   solution.data());
  EXPECT_THAT(solution,
              ElementsAre(DoubleNear(1, 1e-12), DoubleNear(3, 1e-12)));
  EXPECT_EQ(square[2], 77);
  EXPECT_EQ(square[5], 78);
}

TEST(SolveMinimumNormTest, NothingExplainsNothing) {
  std::vector<double> square(9, 0.0);
  const std::vector<double> right_side = {5, 10, 15};
  std::vector<double> solution(3, 1.0);
  SolveMinimumNorm(3, 3, kThreshold, square.data(), right_side.data(),
                   solution.data());
  EXPECT_THAT(solution, ElementsAre(0, 0, 0));
}

// For any rank, the residual is orthogonal to the columns, and the solution is
// orthogonal to the null space, which makes it the shortest.
TEST(SolveMinimumNormTest, IsOrthogonalWhereTheShortestSolutionIs) {
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> number(-1, 1);
  for (size_t size = 2; size <= 12; ++size) {
    for (size_t rank = 1; rank < size; ++rank) {
      // Column j >= rank repeats column j - rank.
      std::vector<double> square(size * size);
      for (size_t k = 0; k < size * rank; ++k) square[k] = number(random);
      for (size_t k = size * rank; k < size * size; ++k) {
        square[k] = square[k - size * rank];
      }
      std::vector<double> right_side(size);
      for (double& entry : right_side) entry = number(random);
      const std::vector<double> columns = square;
      std::vector<double> solution(size);
      SolveMinimumNorm(size, size, kThreshold, square.data(), right_side.data(),
                       solution.data());
      std::vector<double> residual = right_side;
      for (size_t j = 0; j < size; ++j) {
        for (size_t i = 0; i < size; ++i) {
          residual[i] -= columns[j * size + i] * solution[j];
        }
      }
      for (size_t j = 0; j < size; ++j) {
        double seen = 0;
        for (size_t i = 0; i < size; ++i) {
          seen += columns[j * size + i] * residual[i];
        }
        EXPECT_NEAR(seen, 0, 1e-9) << "size " << size << ", rank " << rank;
      }
      for (size_t j = rank; j < size; ++j) {
        EXPECT_NEAR(solution[j], solution[j - rank], 1e-9)
            << "size " << size << ", rank " << rank;
      }
    }
  }
}

// Recovers a known vector for any regular matrix.
TEST(SolveMinimumNormTest, FindsTheVectorThatMadeTheRightSide) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> number(-1, 1);
  for (size_t size = 1; size <= 24; ++size) {
    std::vector<double> square(size * size);
    for (double& entry : square) entry = number(random);
    std::vector<double> wanted(size);
    std::vector<double> right_side(size, 0.0);
    for (size_t j = 0; j < size; ++j) {
      square[j * size + j] += static_cast<double>(size);
      wanted[j] = number(random);
      for (size_t i = 0; i < size; ++i) {
        right_side[i] += square[j * size + i] * wanted[j];
      }
    }
    std::vector<double> solution(size);
    SolveMinimumNorm(size, size, kThreshold, square.data(), right_side.data(),
                     solution.data());
    for (size_t j = 0; j < size; ++j) {
      EXPECT_NEAR(solution[j], wanted[j], 1e-10) << "size " << size;
    }
  }
}

}  // namespace
}  // namespace tabular
}  // namespace footprint
