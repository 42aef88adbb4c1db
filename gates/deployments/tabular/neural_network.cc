#include "footprint/gates/deployments/tabular/neural_network.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/gates/deployments/tabular/adam.h"
#include "footprint/gates/deployments/tabular/column_statistics.h"
#include "footprint/gates/deployments/tabular/dense_network.h"
#include "footprint/gates/deployments/tabular/row_order.h"

namespace footprint {
namespace tabular {
namespace {

constexpr size_t kHiddenUnits = 50;

DenseNetwork MakeNetwork(size_t feature_count, size_t batch_rows) {
  return DenseNetwork({feature_count, kHiddenUnits, kHiddenUnits, 1},
                      batch_rows);
}

// The three parts of a model's parameters.
template <typename Number>
struct Parts {
  explicit Parts(size_t column_count, absl::Span<Number> parameters)
      : means(parameters.subspan(0, column_count)),
        spreads(parameters.subspan(column_count, column_count)),
        network(parameters.subspan(2 * column_count)) {}

  absl::Span<Number> means;
  absl::Span<Number> spreads;
  absl::Span<Number> network;
};

// Puts the standardised features of a row where the network's next sample is.
template <typename Number>
double* CopyFeatures(const double* row, const Parts<Number>& parts,
                     double* inputs) {
  const size_t feature_count = parts.means.size() - 1;
  for (size_t i = 0; i < feature_count; ++i) {
    inputs[i] = (row[i] - parts.means[i]) / parts.spreads[i];
  }
  return inputs + feature_count;
}

// One pass over the table; returns the mean of the batches' losses.
double RunEpoch(const Table& table, RowOrder order, const Parts<double>& parts,
                DenseNetwork* network, AdamOptimizer* optimizer,
                absl::Span<double> targets, absl::Span<double> gradient) {
  const size_t feature_count = table.feature_count();
  double loss = 0;
  for (size_t first = 0; first < table.row_count(); first += targets.size()) {
    const size_t rows = std::min(targets.size(), table.row_count() - first);
    double* inputs = network->inputs();
    for (size_t i = 0; i < rows; ++i) {
      const double* row = table.Row(order.Next());
      inputs = CopyFeatures(row, parts, inputs);
      targets[i] = (row[feature_count] - parts.means[feature_count]) /
                   parts.spreads[feature_count];
    }
    network->Forward(parts.network, rows);
    loss +=
        network->Backward(parts.network, targets.subspan(0, rows), gradient) *
        static_cast<double>(rows);
    optimizer->Step(gradient, parts.network);
  }
  return loss / static_cast<double>(table.row_count());
}

}  // namespace

absl::StatusOr<Model> NeuralNetwork::Fit(const Table& table) const {
  if (table.row_count() == 0 || table.feature_count() == 0) {
    return absl::InvalidArgumentError(
        "a table without rows or features teaches nothing");
  }
  if (options_.epochs < 1 || options_.batch_rows < 1 ||
      !(options_.learning_rate > 0)) {
    return absl::InvalidArgumentError(
        "epochs, rows in a batch and learning rate must be above zero");
  }
  const size_t batch_rows = std::min(options_.batch_rows, table.row_count());
  DenseNetwork network = MakeNetwork(table.feature_count(), batch_rows);
  Model model;
  model.estimator = name();
  model.feature_count = table.feature_count();
  model.parameters.resize(2 * table.column_count() + network.parameter_count());
  const Parts<double> parts(table.column_count(),
                            absl::MakeSpan(model.parameters));
  absl::Status status =
      ComputeColumnStatistics(table, parts.means, parts.spreads);
  if (!status.ok()) return status;
  network.Initialize(options_.seed, parts.network);

  AdamOptimizer optimizer(network.parameter_count(), options_.learning_rate);
  std::vector<double> gradient(network.parameter_count());
  std::vector<double> targets(batch_rows);
  double loss = 0;
  for (int epoch = 0; epoch < options_.epochs; ++epoch) {
    const RowOrder order(table.row_count(),
                         options_.seed + static_cast<uint64_t>(epoch));
    loss = RunEpoch(table, order, parts, &network, &optimizer,
                    absl::MakeSpan(targets), absl::MakeSpan(gradient));
  }
  if (!std::isfinite(loss)) {
    return absl::FailedPreconditionError(
        "the error grew beyond all bounds; lower the learning rate");
  }
  return model;
}

absl::Status NeuralNetwork::Predict(const Model& model, const Table& table,
                                    absl::Span<double> predictions) const {
  const size_t batch_rows =
      std::max<size_t>(1, std::min(options_.batch_rows, table.row_count()));
  DenseNetwork network = MakeNetwork(table.feature_count(), batch_rows);
  if (model.feature_count != table.feature_count() ||
      predictions.size() != table.row_count() ||
      model.parameters.size() !=
          2 * table.column_count() + network.parameter_count()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the model is for ", model.feature_count, " features, the table has ",
        table.feature_count(), "; predict with the model of a like table"));
  }
  const Parts<const double> parts(table.column_count(), model.parameters);
  for (size_t first = 0; first < table.row_count(); first += batch_rows) {
    const size_t rows = std::min(batch_rows, table.row_count() - first);
    double* inputs = network.inputs();
    for (size_t i = 0; i < rows; ++i) {
      inputs = CopyFeatures(table.Row(first + i), parts, inputs);
    }
    const double* outputs = network.Forward(parts.network, rows);
    for (size_t i = 0; i < rows; ++i) {
      predictions[first + i] =
          parts.means.back() + parts.spreads.back() * outputs[i];
    }
  }
  return absl::OkStatus();
}

}  // namespace tabular
}  // namespace footprint
