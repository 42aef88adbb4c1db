// Regression by a network with two hidden layers of 50 units and ReLU.
//
//   NeuralNetworkOptions options;
//   options.epochs = 20;
//   NeuralNetwork estimator(options);
//   absl::StatusOr<Model> model = estimator.Fit(table);
//   // model->parameters: mean and spread of each column, then the network's.
//
// Columns are brought to mean 0 and deviation 1; the squared error is lowered
// by Adam in mini-batches, by trainer_manager in floats. Epochs follow each
// other without a gap, so that every batch is full; the last is filled up with
// rows of one more. Equal tables and options give equal models.
//
// Owns a copy of the options; the model owns its numbers. Thread-safe. Memory
// with f features and batches of b rows: fit, 12 (50 f + 2,701) + 4 b (f + 1)
// bytes and an arena of 200 f bytes and 35 to 55 KiB, however many rows the
// table has and however many epochs are run, and before that 60 KiB to plan;
// inference, 4 (50 f + 2,701) + 4 b (f + 100). Time: fit, proportional to
// epochs x rows x (50 f + 2,600).

#ifndef FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_ESTIMATORS_NEURAL_NETWORK_H_
#define FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_ESTIMATORS_NEURAL_NETWORK_H_

#include <cstddef>
#include <cstdint>

#include "footprint/gates/deployments/tabular/estimators/estimator.h"

namespace footprint {
namespace tabular {

struct NeuralNetworkOptions {
  int epochs = 20;
  size_t batch_rows = 64;
  double learning_rate = 1e-3;
  uint64_t seed = 1;
};

class NeuralNetwork : public Estimator {
 public:
  explicit NeuralNetwork(const NeuralNetworkOptions& options)
      : options_(options) {}

  const char* name() const override { return "neural_network"; }
  const char* advice() const override { return "lower --learning_rate"; }
  int64_t FitBytes(size_t feature_count) const override;
  // kFailedPrecondition if the training diverged: the error grew beyond all
  // bounds, or over the last epoch was ten times that of predicting the mean.
  absl::StatusOr<Model> Fit(const Table& table) const override;
  absl::Status Predict(const Model& model, const Table& table,
                       absl::Span<double> predictions) const override;

 private:
  const NeuralNetworkOptions options_;
};

}  // namespace tabular
}  // namespace footprint

#endif  // FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_ESTIMATORS_NEURAL_NETWORK_H_
