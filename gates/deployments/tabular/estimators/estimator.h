// The difference between the two programs of the experiment: how a model is
// fitted to a table and how it predicts.
//
//   absl::StatusOr<Model> model = estimator.Fit(table);
//   std::vector<double> predictions(table.row_count());
//   absl::Status status = estimator.Predict(*model, table,
//                                           absl::MakeSpan(predictions));
//
// A model is plain data, so it can be saved, dropped and loaded between the
// two. The caller owns table, model and predictions; an estimator keeps no
// reference to them after a call. Memory: FitBytes while Fit runs; the header
// of each estimator says what its Predict needs.

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

  // "linear_regression": of the program, and in the files of its models.
  virtual const char* name() const = 0;

  // Advice where the training diverged: "lower --rate".
  virtual const char* advice() const = 0;

  // About what Fit needs at its worst, for messages.
  virtual int64_t FitBytes(size_t feature_count) const = 0;

  // Learns the table's last column from the others. kInvalidArgument for a
  // table that nothing can be learned from, kFailedPrecondition if learning
  // failed. Throws std::bad_alloc, or is kResourceExhausted, for want of
  // memory.
  virtual absl::StatusOr<Model> Fit(const Table& table) const = 0;

  // Writes one prediction for each of the table's rows; its last column is not
  // looked at. kInvalidArgument if the model is for tables of another shape.
  virtual absl::Status Predict(const Model& model, const Table& table,
                               absl::Span<double> predictions) const = 0;
};

}  // namespace tabular
}  // namespace footprint

// Tested by //gates/deployments/tabular:experiment_test.

#endif  // FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_ESTIMATORS_ESTIMATOR_H_
