// Tests of the promises of linear_data.h.

#include "footprint/gates/deployments/tabular/tables/linear_data.h"

#include <cmath>
#include <vector>

#include "gtest/gtest.h"

namespace footprint {
namespace tabular {
namespace {

TEST(LinearDataTest, GivesTheSameRowsOnEveryMachine) {
  LinearData data(/*feature_count=*/2, /*seed=*/1);
  std::vector<double> row(3);
  data.NextRow(absl::MakeSpan(row));
  EXPECT_EQ(row, (std::vector<double>{-0.7688, 0.7532, -0.0834}));
}

TEST(LinearDataTest, IsLinearUpToTheNoise) {
  constexpr size_t kRows = 10000;
  LinearData data(/*feature_count=*/10, /*seed=*/2);
  std::vector<double> row(11);
  double sum = 0;
  double squares = 0;
  for (size_t i = 0; i < kRows; ++i) {
    data.NextRow(absl::MakeSpan(row));
    double noise = row[10] - data.intercept();
    for (size_t feature = 0; feature < 10; ++feature) {
      EXPECT_LE(std::abs(row[feature]), 1);
      noise -= row[feature] * data.coefficient(feature);
    }
    sum += noise;
    squares += noise * noise;
  }
  EXPECT_NEAR(sum / kRows, 0, 0.005);
  EXPECT_NEAR(std::sqrt(squares / kRows), 0.1, 0.005);
}

}  // namespace
}  // namespace tabular
}  // namespace footprint
