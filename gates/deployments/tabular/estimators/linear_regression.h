// Multiple linear regression: least squares with an intercept.
//
//   LinearRegression estimator;
//   absl::StatusOr<Model> model = estimator.Fit(table);
//   // model->parameters: the intercept, then one coefficient a feature.
//
// Method: the columns, brought to mean 0 and deviation 1, pass block by block
// through a Householder QR that keeps only the triangle; then a pivoted
// orthogonal decomposition of the triangle. Its error grows with the condition
// of the table, where that of normal equations (the same memory, half the time)
// grows with the condition's square. Where columns determine each other, the
// solution with the smallest weights is taken; a constant column gets none.
//
// The estimator has no state, and the model owns its numbers. Thread-safe.
// Memory with f features: fit, 8 (f + 1) (f + 64) bytes and some rows more,
// however many rows the table has; inference, none. Time: fit, proportional to
// rows x f^2; inference, to rows x f.

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
