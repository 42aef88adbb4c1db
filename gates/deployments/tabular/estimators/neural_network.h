// Fits a regression by a neural network with two hidden layers of 50 units and
// ReLU.
//
//   NeuralNetworkOptions options;
//   options.epochs = 20;
//   NeuralNetwork estimator(options);
//   absl::StatusOr<Model> model = estimator.Fit(table);
//   // model->parameters: mean and spread of each column, then the network's.
//
// Columns are standardised to mean 0 and deviation 1. trainer_manager minimises
// the squared error by Adam, in mini-batches of floats. A batch may contain
// rows of two epochs, so that every batch is full; rows of one more epoch fill
// the last batch. Equal tables and options give equal models.
//
// Owns a copy of the options; the model owns its numbers. Thread-safe. Memory
// with f features and batches of b rows: Fit needs 12 (50 f + 2,701) + 4 b (f +
// 1) bytes and an arena of 200 f bytes plus 35 to 55 KiB, for any number of
// rows and epochs, and before that 60 KiB for the plan. Predict needs 4 (50 f +
// 2,701) + 4 b (f + 100) bytes. Time: Fit is proportional to epochs x rows x
// (50 f + 2,600).

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
  // Returns kFailedPrecondition if the training diverged: the error is not
  // finite, or over the last epoch is more than ten times that of predicting
  // the mean.
  absl::StatusOr<Model> Fit(const Table& table) const override;
  absl::Status Predict(const Model& model, const Table& table,
                       absl::Span<double> predictions) const override;

 private:
  const NeuralNetworkOptions options_;
};

}  // namespace tabular
}  // namespace footprint

#endif  // FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_ESTIMATORS_NEURAL_NETWORK_H_
