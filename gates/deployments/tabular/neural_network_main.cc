// The tabular experiment with a neural network. See --help.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/flags/flag.h"
#include "footprint/gates/deployments/tabular/estimators/neural_network.h"
#include "footprint/gates/deployments/tabular/experiment.h"

ABSL_FLAG(int, epochs, 20, "how often the table is gone through");
ABSL_FLAG(int, batch_rows, 64, "rows in a mini-batch");
ABSL_FLAG(double, learning_rate, 1e-3, "of Adam");
ABSL_FLAG(uint64_t, seed, 1, "of the first weights and of the rows' order");

namespace footprint {
namespace tabular {
namespace {

std::unique_ptr<Estimator> MakeNetwork() {
  NeuralNetworkOptions options;
  options.epochs = absl::GetFlag(FLAGS_epochs);
  const int batch_rows = absl::GetFlag(FLAGS_batch_rows);
  options.batch_rows = batch_rows > 0 ? static_cast<size_t>(batch_rows) : 0;
  options.learning_rate = absl::GetFlag(FLAGS_learning_rate);
  options.seed = absl::GetFlag(FLAGS_seed);
  return std::make_unique<NeuralNetwork>(options);
}

}  // namespace
}  // namespace tabular
}  // namespace footprint

int main(int argc, char** argv) {
  return footprint::tabular::RunExperiment(
      argc, argv,
      "predicts a column of a table by a network with two hidden layers of 50 "
      "units.",
      &footprint::tabular::MakeNetwork);
}
