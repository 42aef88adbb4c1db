// Multiple linear regression: least squares with an intercept.
//
//   LinearRegression estimator;
//   absl::StatusOr<Model> model = estimator.Fit(table);
//   // model->parameters: the intercept, then a coefficient for each feature.
//
// Method: the columns are standardised to mean 0 and deviation 1. They pass
// block by block through a Householder QR that keeps only the triangle, of
// which a pivoted orthogonal decomposition is made. The error grows with the
// condition number of the table; that of normal equations (the same memory,
// half the time) grows with its square. If columns depend on each other
// linearly, this finds the solution with the smallest weights; a constant
// column gets the weight 0.
//
// The estimator has no state, and the model owns its numbers. Thread-safe.
// Memory with f features: Fit needs 8 (f + 1) (f + 64) bytes plus a few rows,
// for any number of rows. If columns depend on each other linearly, it needs up
// to 8 (f + 1)^2 + 16 f^2 bytes, which is more above about 30 features. Predict
// allocates nothing. Time: Fit is proportional to rows x f^2, Predict to rows x
// f.

#ifndef FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_ESTIMATORS_LINEAR_REGRESSION_H_
#define FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_ESTIMATORS_LINEAR_REGRESSION_H_

#include <cstddef>
#include <cstdint>

#include "footprint/gates/deployments/tabular/estimators/estimator.h"

namespace footprint {
namespace tabular {

class LinearRegression : public Estimator {
 public:
  const char* name() const override { return "linear_regression"; }
  const char* advice() const override {
    return "bring the columns to units in which their numbers are alike";
  }
  int64_t FitBytes(size_t feature_count) const override {
    const int64_t columns = static_cast<int64_t>(feature_count) + 1;
    return 8 * columns * (columns + 63);
  }
  absl::StatusOr<Model> Fit(const Table& table) const override;
  absl::Status Predict(const Model& model, const Table& table,
                       absl::Span<double> predictions) const override;
};

}  // namespace tabular
}  // namespace footprint

#endif  // FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_ESTIMATORS_LINEAR_REGRESSION_H_
