// Interface of the estimators of the experiment: fits a model to a table and
// predicts with it.
//
//   absl::StatusOr<Model> model = estimator.Fit(table);
//   std::vector<double> predictions(table.row_count());
//   absl::Status status = estimator.Predict(*model, table,
//                                           absl::MakeSpan(predictions));
//
// A model is plain data, so it can be saved, dropped and loaded between fitting
// and predicting. The caller owns table, model and predictions; an estimator
// keeps no reference to them after a call. Memory: FitBytes while Fit runs; the
// header of each estimator says what its Predict needs.

#ifndef FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_ESTIMATORS_ESTIMATOR_H_
#define FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_ESTIMATORS_ESTIMATOR_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "footprint/gates/deployments/tabular/estimators/model_file.h"
#include "footprint/gates/deployments/tabular/tables/table.h"

namespace footprint {
namespace tabular {

// Thread-compatible.
class Estimator {
 public:
  virtual ~Estimator() = default;

  // Returns the name of the program, which its model files contain too:
  // "linear_regression".
  virtual const char* name() const = 0;

  // Returns the advice for a training that diverged: "lower --rate".
  virtual const char* advice() const = 0;

  // Returns roughly the peak bytes of Fit, for messages.
  virtual int64_t FitBytes(size_t feature_count) const = 0;

  // Learns the table's last column from the others. Returns kInvalidArgument
  // for a table from which nothing can be learned, and kFailedPrecondition if
  // learning failed. If memory does not suffice, throws std::bad_alloc or
  // returns kResourceExhausted.
  virtual absl::StatusOr<Model> Fit(const Table& table) const = 0;

  // Writes one prediction for each of the table's rows; ignores the last
  // column. Returns kInvalidArgument if the model is for tables of another
  // shape, or if `predictions` does not have one element for each row.
  virtual absl::Status Predict(const Model& model, const Table& table,
                               absl::Span<double> predictions) const = 0;
};

}  // namespace tabular
}  // namespace footprint

// Tested by //gates/deployments/tabular:experiment_test.

#endif  // FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_ESTIMATORS_ESTIMATOR_H_
