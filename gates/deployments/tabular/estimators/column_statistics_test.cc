// Tests of the promises of column_statistics.h.

#include "footprint/gates/deployments/tabular/estimators/column_statistics.h"

#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "footprint/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace tabular {
namespace {

TEST(ColumnStatisticsTest, AgreesWithTwoPassesInLongDouble) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  TableBuilder builder(/*column_count=*/3);
  std::vector<std::vector<long double>> columns(3);
  for (int row = 0; row < 1000; ++row) {
    double* numbers = builder.AddRow();
    numbers[0] = normal(random);
    numbers[1] = 1e9 + normal(random);
    numbers[2] = 1e-9 * normal(random);
    for (int i = 0; i < 3; ++i) columns[i].push_back(numbers[i]);
  }
  const Table table = std::move(builder).Build();
  std::vector<double> means(3);
  std::vector<double> deviations(3);
  ASSERT_THAT(ComputeColumnStatistics(table, absl::MakeSpan(means),
                                      absl::MakeSpan(deviations)),
              IsOk());
  for (int i = 0; i < 3; ++i) {
    long double sum = 0;
    for (const long double number : columns[i]) sum += number;
    const long double mean = sum / 1000;
    long double squares = 0;
    for (const long double number : columns[i]) {
      squares += (number - mean) * (number - mean);
    }
    const double spread = static_cast<double>(std::sqrt(squares / 1000));
    EXPECT_NEAR(means[i], static_cast<double>(mean), 1e-6 * spread);
    EXPECT_NEAR(deviations[i], spread, 1e-6 * spread);
  }
}

TEST(ColumnStatisticsTest, GivesAConstantColumnTheSpreadOne) {
  TableBuilder builder(/*column_count=*/1);
  for (int row = 0; row < 10; ++row) *builder.AddRow() = 0.1;
  const Table table = std::move(builder).Build();
  double mean = 0;
  double spread = 0;
  ASSERT_THAT(ComputeColumnStatistics(table, {&mean, 1}, {&spread, 1}), IsOk());
  EXPECT_DOUBLE_EQ(mean, 0.1);
  EXPECT_EQ(spread, 1);
}

TEST(ColumnStatisticsTest, RefusesNumbersWhoseSpreadIsNoDouble) {
  TableBuilder builder(/*column_count=*/1);
  *builder.AddRow() = 1e300;
  *builder.AddRow() = -1e300;
  const Table table = std::move(builder).Build();
  double mean = 0;
  double spread = 0;
  EXPECT_THAT(ComputeColumnStatistics(table, {&mean, 1}, {&spread, 1}),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

}  // namespace
}  // namespace tabular
}  // namespace footprint
