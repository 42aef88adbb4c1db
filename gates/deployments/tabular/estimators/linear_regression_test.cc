// Compares linear_regression.h with certified solutions and with naive ones.

#include "footprint/gates/deployments/tabular/estimators/linear_regression.h"

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

using Rows = std::vector<std::vector<double>>;

Table MakeTable(const Rows& rows) {
  TableBuilder builder(rows[0].size(), rows.size());
  for (const std::vector<double>& row : rows) {
    std::copy(row.begin(), row.end(), builder.AddRow());
  }
  return std::move(builder).Build();
}

Model MustFit(const Table& table) {
  absl::StatusOr<Model> model = LinearRegression().Fit(table);
  EXPECT_THAT(model, IsOk());
  return model.ok() ? *model : Model();
}

// Longley's table of the American economy from 1947 to 1962, the usual test of
// least squares, with a condition number of about 5e9. Features, then
// employment.
const Rows& Longley() {
  static const Rows* const rows =
      new Rows{{83.0, 234289, 2356, 1590, 107608, 1947, 60323},
               {88.5, 259426, 2325, 1456, 108632, 1948, 61122},
               {88.2, 258054, 3682, 1616, 109773, 1949, 60171},
               {89.5, 284599, 3351, 1650, 110929, 1950, 61187},
               {96.2, 328975, 2099, 3099, 112075, 1951, 63221},
               {98.1, 346999, 1932, 3594, 113270, 1952, 63639},
               {99.0, 365385, 1870, 3547, 115094, 1953, 64989},
               {100.0, 363112, 3578, 3350, 116219, 1954, 63761},
               {101.2, 397469, 2904, 3048, 117388, 1955, 66019},
               {104.6, 419180, 2822, 2857, 118734, 1956, 67857},
               {108.4, 442769, 2936, 2798, 120445, 1957, 68169},
               {110.8, 444546, 4681, 2637, 121950, 1958, 66513},
               {112.6, 482704, 3813, 2552, 123366, 1959, 68655},
               {114.2, 502601, 3931, 2514, 125368, 1960, 69564},
               {115.7, 518173, 4806, 2572, 127852, 1961, 69331},
               {116.9, 554894, 4007, 2827, 130081, 1962, 70551}};
  return *rows;
}

TEST(LinearRegressionTest, AgreesWithTheCertifiedSolutionOfLongleysTable) {
  // Statistical Reference Datasets, National Institute of Standards and
  // Technology.
  const std::vector<double> certified = {
      -3482258.63459582, 15.0618722713733,  -0.0358191792925910,
      -2.02022980381683, -1.03322686717359, -0.0511041056535807,
      1829.15146461355};
  const Model model = MustFit(MakeTable(Longley()));
  ASSERT_EQ(model.parameters.size(), certified.size());
  for (size_t i = 0; i < certified.size(); ++i) {
    EXPECT_NEAR(model.parameters[i] / certified[i], 1, 1e-11) << i;
  }
}

// The naive oracle: normal equations in long double, by elimination.
std::vector<double> SolveNormalEquations(const Rows& rows) {
  const size_t n = rows[0].size();
  std::vector<std::vector<long double>> system(n,
                                               std::vector<long double>(n + 1));
  for (const std::vector<double>& row : rows) {
    std::vector<long double> extended = {1};
    extended.insert(extended.end(), row.begin(), row.end());
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j <= n; ++j) {
        system[i][j] += extended[i] * extended[j];
      }
    }
  }
  for (size_t k = 0; k < n; ++k) {
    for (size_t i = 0; i < n; ++i) {
      if (i == k) continue;
      const long double factor = system[i][k] / system[k][k];
      for (size_t j = k; j <= n; ++j) system[i][j] -= factor * system[k][j];
    }
  }
  std::vector<double> solution;
  for (size_t k = 0; k < n; ++k) {
    solution.push_back(static_cast<double>(system[k][n] / system[k][k]));
  }
  return solution;
}

TEST(LinearRegressionTest, AgreesWithNormalEquationsOnRandomTables) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  for (const auto& [row_count, feature_count] :
       {std::pair<size_t, size_t>{5, 2},
        {63, 5},
        {64, 5},
        {65, 5},
        {200, 1},
        {300, 20}}) {
    Rows rows(row_count, std::vector<double>(feature_count + 1));
    for (std::vector<double>& row : rows) {
      for (double& number : row) number = 3 + normal(random);
    }
    const std::vector<double> expected = SolveNormalEquations(rows);
    const Model model = MustFit(MakeTable(rows));
    ASSERT_EQ(model.parameters.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(model.parameters[i], expected[i], 1e-10);
    }
  }
}

TEST(LinearRegressionTest, SharesWeightAmongDependentColumns) {
  std::mt19937 random(2);
  std::normal_distribution<double> normal;
  Rows rows;
  for (int i = 0; i < 200; ++i) {
    const double x = normal(random);
    const double z = normal(random);
    rows.push_back({x, 7, 2 * x - z, z, 5 + 3 * x - 2 * z});
  }
  const Table table = MakeTable(rows);
  const Model model = MustFit(table);
  std::vector<double> predictions(table.row_count());
  ASSERT_THAT(
      LinearRegression().Predict(model, table, absl::MakeSpan(predictions)),
      IsOk());
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_NEAR(predictions[i], rows[i][4], 1e-10);
  }
  EXPECT_EQ(model.parameters[2], 0);
  for (const double weight : model.parameters) {
    EXPECT_LT(std::abs(weight), 6) << "the smallest solution is no larger";
  }
}

TEST(LinearRegressionTest, FitsFewerRowsThanFeatures) {
  const Table table = MakeTable({{1, 2, 3, 4}, {2, 1, 0, 5}});
  const Model model = MustFit(table);
  std::vector<double> predictions(2);
  ASSERT_THAT(
      LinearRegression().Predict(model, table, absl::MakeSpan(predictions)),
      IsOk());
  EXPECT_NEAR(predictions[0], 4, 1e-12);
  EXPECT_NEAR(predictions[1], 5, 1e-12);
}

TEST(LinearRegressionTest, PredictsTheMeanWithoutFeatures) {
  EXPECT_DOUBLE_EQ(MustFit(MakeTable({{1}, {2}, {6}})).parameters[0], 3);
}

TEST(LinearRegressionTest, RefusesWhatItCannotFitOrPredict) {
  EXPECT_THAT(LinearRegression().Fit(TableBuilder(3).Build()),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(LinearRegression().Fit(
                  MakeTable({{1e300, 1}, {-1e300, 2}, {1.5e300, 4}})),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  const Model model = MustFit(MakeTable({{1, 2}, {2, 4}}));
  const Table wider = MakeTable({{1, 2, 3}});
  std::vector<double> predictions(1);
  EXPECT_THAT(
      LinearRegression().Predict(model, wider, absl::MakeSpan(predictions)),
      StatusIs(absl::StatusCode::kInvalidArgument));
  // The model is refused if only one of its two counts differs.
  const Table alike = MakeTable({{1, 2}});
  Model longer = model;
  longer.parameters.push_back(0);
  EXPECT_THAT(
      LinearRegression().Predict(longer, alike, absl::MakeSpan(predictions)),
      StatusIs(absl::StatusCode::kInvalidArgument));
  Model of_more_features = model;
  ++of_more_features.feature_count;
  EXPECT_THAT(LinearRegression().Predict(of_more_features, alike,
                                         absl::MakeSpan(predictions)),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace tabular
}  // namespace footprint
