#include "footprint/gates/deployments/tabular/estimators/linear_regression.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "Eigen/Core"
#include "absl/strings/str_cat.h"
#include "footprint/gates/deployments/tabular/estimators/column_statistics.h"
#include "footprint/gates/deployments/tabular/estimators/minimum_norm_solution.h"

namespace footprint {
namespace tabular {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

// Enough rows to keep the vector units busy, and few enough for a block to fit
// in a core's cache.
constexpr Index kBlockRows = 64;

// Rotates `block` into the triangle, which becomes the triangle of both. The
// triangle is stored transposed, lower instead of upper, so that the entries of
// one step are contiguous. Overwrites `block` with meaningless numbers.
void AbsorbBlock(Index row_count, MatrixXd* block, MatrixXd* triangle) {
  const Index column_count = triangle->rows();
  for (Index k = 0; k < column_count; ++k) {
    auto reflector = block->col(k).head(row_count);
    const double norm2 = reflector.squaredNorm();
    if (norm2 == 0) continue;
    const double diagonal = (*triangle)(k, k);
    const double length = std::sqrt(diagonal * diagonal + norm2);
    // This sign avoids cancellation.
    const double beta = diagonal < 0 ? length : -length;
    const double tau = (beta - diagonal) / beta;
    reflector /= diagonal - beta;
    (*triangle)(k, k) = beta;
    for (Index j = k + 1; j < column_count; ++j) {
      auto column = block->col(j).head(row_count);
      const double step = tau * ((*triangle)(j, k) + reflector.dot(column));
      (*triangle)(j, k) -= step;
      column -= step * reflector;
    }
  }
}

// Returns the upper triangle of the standardised table, whose last column is
// the target.
MatrixXd Triangularize(const Table& table, const std::vector<double>& means,
                       const std::vector<double>& deviations) {
  const Index column_count = static_cast<Index>(table.column_count());
  const Index row_count = static_cast<Index>(table.row_count());
  MatrixXd triangle = MatrixXd::Zero(column_count, column_count);
  MatrixXd block(std::min(kBlockRows, row_count), column_count);
  for (Index first = 0; first < row_count; first += kBlockRows) {
    const Index rows = std::min(kBlockRows, row_count - first);
    for (Index i = 0; i < rows; ++i) {
      const double* numbers = table.Row(static_cast<size_t>(first + i));
      for (Index j = 0; j < column_count; ++j) {
        block(i, j) = (numbers[j] - means[j]) / deviations[j];
      }
    }
    AbsorbBlock(rows, &block, &triangle);
  }
  triangle.transposeInPlace();
  return triangle;
}

}  // namespace

absl::StatusOr<Model> LinearRegression::Fit(const Table& table) const {
  if (table.row_count() == 0) {
    return absl::InvalidArgumentError("a table without rows teaches nothing");
  }
  const size_t feature_count = table.feature_count();
  std::vector<double> means(table.column_count());
  std::vector<double> deviations(table.column_count());
  absl::Status status = ComputeColumnStatistics(table, absl::MakeSpan(means),
                                                absl::MakeSpan(deviations));
  if (!status.ok()) return status;
  Model model;
  model.estimator = name();
  model.feature_count = feature_count;
  model.parameters.assign(feature_count + 1, 0.0);
  model.parameters[0] = means[feature_count];
  if (feature_count == 0) return model;

  MatrixXd triangle = Triangularize(table, means, deviations);
  const Index features = static_cast<Index>(feature_count);
  // LAPACK and numpy use the same threshold for linearly dependent columns.
  const double threshold =
      std::numeric_limits<double>::epsilon() *
      static_cast<double>(std::max(table.row_count(), feature_count));
  SolveMinimumNorm(feature_count, table.column_count(), threshold,
                   triangle.data(), triangle.col(features).data(),
                   model.parameters.data() + 1);

  for (size_t i = 0; i < feature_count; ++i) {
    double& coefficient = model.parameters[i + 1];
    coefficient *= deviations[feature_count] / deviations[i];
    model.parameters[0] -= coefficient * means[i];
  }
  return model;
}

absl::Status LinearRegression::Predict(const Model& model, const Table& table,
                                       absl::Span<double> predictions) const {
  const size_t feature_count = table.feature_count();
  if (model.feature_count != feature_count ||
      model.parameters.size() != feature_count + 1 ||
      predictions.size() != table.row_count()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the model is for ", model.feature_count, " features, the table has ",
        feature_count, "; predict with the model of a like table"));
  }
  const Index features = static_cast<Index>(feature_count);
  const Eigen::Map<const Eigen::VectorXd> coefficients(
      model.parameters.data() + 1, features);
  for (size_t row = 0; row < table.row_count(); ++row) {
    const Eigen::Map<const Eigen::VectorXd> numbers(table.Row(row), features);
    predictions[row] = model.parameters[0] + coefficients.dot(numbers);
  }
  return absl::OkStatus();
}

}  // namespace tabular
}  // namespace footprint
