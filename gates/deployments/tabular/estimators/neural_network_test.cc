// Tests neural_network.h: above all, that the network learns.

#include "footprint/gates/deployments/tabular/estimators/neural_network.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "footprint/base/testing/status_matchers.h"
#include "footprint/gates/deployments/tabular/estimators/linear_regression.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace tabular {
namespace {

using ::testing::HasSubstr;

// Makes a table of a smooth function that is far from linear, with units that
// differ a lot.
Table CurvedTable(size_t row_count, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  TableBuilder builder(/*column_count=*/4, row_count);
  for (size_t row = 0; row < row_count; ++row) {
    double* numbers = builder.AddRow();
    const double x = uniform(random);
    const double y = uniform(random);
    const double z = uniform(random);
    numbers[0] = x;
    numbers[1] = 1000 + 1000 * y;
    numbers[2] = 1e-6 * z;
    numbers[3] = 50 + 10 * (std::sin(3 * x) * y + z * z);
  }
  return std::move(builder).Build();
}

double MeanSquaredError(const Estimator& estimator, const Model& model,
                        const Table& table) {
  std::vector<double> predictions(table.row_count());
  const absl::Status status =
      estimator.Predict(model, table, absl::MakeSpan(predictions));
  EXPECT_THAT(status, IsOk());
  double sum = 0;
  for (size_t row = 0; row < table.row_count(); ++row) {
    const double difference =
        predictions[row] - table.Row(row)[table.feature_count()];
    sum += difference * difference;
  }
  return sum / static_cast<double>(table.row_count());
}

Model MustFit(const Estimator& estimator, const Table& table) {
  absl::StatusOr<Model> model = estimator.Fit(table);
  EXPECT_THAT(model, IsOk());
  return model.ok() ? *model : Model();
}

NeuralNetwork MakeNetwork(int epochs, uint64_t seed = 1) {
  NeuralNetworkOptions options;
  options.epochs = epochs;
  options.seed = seed;
  return NeuralNetwork(options);
}

TEST(NeuralNetworkTest, LearnsACurveThatALineCannot) {
  const Table known = CurvedTable(1000, 1);
  const Table unseen = CurvedTable(500, 2);
  const NeuralNetwork short_course = MakeNetwork(1);
  const NeuralNetwork long_course = MakeNetwork(40);
  const LinearRegression line;
  const double line_error =
      MeanSquaredError(line, MustFit(line, known), unseen);
  const double early_error =
      MeanSquaredError(short_course, MustFit(short_course, known), unseen);
  const double late_error =
      MeanSquaredError(long_course, MustFit(long_course, known), unseen);
  EXPECT_LT(late_error, early_error / 10);
  EXPECT_LT(late_error, line_error / 10);
}

TEST(NeuralNetworkTest, GivesEqualModelsForEqualSeeds) {
  const Table table = CurvedTable(100, 1);
  EXPECT_EQ(MustFit(MakeNetwork(2, 7), table).parameters,
            MustFit(MakeNetwork(2, 7), table).parameters);
  EXPECT_NE(MustFit(MakeNetwork(2, 7), table).parameters,
            MustFit(MakeNetwork(2, 8), table).parameters);
}

TEST(NeuralNetworkTest, PredictsARowTheSameAloneAndInABatch) {
  const Table table = CurvedTable(130, 1);
  const NeuralNetwork network = MakeNetwork(2);
  const Model model = MustFit(network, table);
  std::vector<double> together(table.row_count());
  ASSERT_THAT(network.Predict(model, table, absl::MakeSpan(together)), IsOk());
  for (const size_t row : {size_t{0}, size_t{63}, size_t{64}, size_t{129}}) {
    TableBuilder builder(4, 1);
    std::copy_n(table.Row(row), 4, builder.AddRow());
    double alone = 0;
    ASSERT_THAT(network.Predict(model, std::move(builder).Build(), {&alone, 1}),
                IsOk());
    EXPECT_NEAR(alone, together[row], 1e-9);
  }
}

TEST(NeuralNetworkTest, TellsATrainingThatDiverged) {
  NeuralNetworkOptions options;
  for (const double rate : {3.0, 100.0, 1000.0}) {
    options.learning_rate = rate;
    const absl::Status status =
        NeuralNetwork(options).Fit(CurvedTable(300, 1)).status();
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition))
        << rate;
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("the training diverged: over the last epoch"));
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("lower --learning_rate"));
  }
}

// Neither a network that has hardly learned nor one that met an outlier has
// diverged.
TEST(NeuralNetworkTest, AcceptsATrainingThatIsShort) {
  NeuralNetworkOptions options;
  options.epochs = 1;
  options.learning_rate = 1e-12;
  for (options.seed = 0; options.seed < 20; ++options.seed) {
    const absl::Status status =
        NeuralNetwork(options).Fit(CurvedTable(65, 1)).status();
    EXPECT_THAT(status, IsOk());
  }
  TableBuilder builder(/*column_count=*/2, 5000);
  for (int row = 0; row < 5000; ++row) {
    double* numbers = builder.AddRow();
    numbers[0] = row % 7;
    numbers[1] = row == 4321 ? 1e6 : row % 3;
  }
  options.learning_rate = 1e-3;
  const absl::Status status =
      NeuralNetwork(options).Fit(std::move(builder).Build()).status();
  EXPECT_THAT(status, IsOk());
}

TEST(NeuralNetworkTest, RefusesWhatItCannotFitOrPredict) {
  const NeuralNetwork network = MakeNetwork(1);
  EXPECT_THAT(network.Fit(TableBuilder(3).Build()),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(MakeNetwork(0).Fit(CurvedTable(10, 1)),
              StatusIs(absl::StatusCode::kInvalidArgument));
  NeuralNetworkOptions options;
  options.learning_rate = 1e200;
  EXPECT_THAT(NeuralNetwork(options).Fit(CurvedTable(200, 1)),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  // The rate is above zero as a double, but not as a float.
  options.learning_rate = 1e-300;
  const absl::Status too_small =
      NeuralNetwork(options).Fit(CurvedTable(10, 1)).status();
  EXPECT_THAT(too_small, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(std::string(too_small.message()),
              HasSubstr("learning rate is 1e-300, which training in float "
                        "takes for zero"));
  const Model model = MustFit(network, CurvedTable(10, 1));
  TableBuilder builder(/*column_count=*/3);
  std::fill_n(builder.AddRow(), 3, 0.0);
  double prediction = 0;
  EXPECT_THAT(
      network.Predict(model, std::move(builder).Build(), {&prediction, 1}),
      StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace tabular
}  // namespace footprint
