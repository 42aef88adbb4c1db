#include "footprint/gates/deployments/tabular/estimators/neural_network.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "footprint/gates/deployments/tabular/estimators/column_statistics.h"
#include "footprint/gates/deployments/tabular/estimators/row_order.h"
#include "footprint/trainer_manager/layers/activations.h"
#include "footprint/trainer_manager/layers/fully_connected.h"
#include "footprint/trainer_manager/layers/losses.h"
#include "footprint/trainer_manager/layers/optimizer.h"
#include "footprint/trainer_manager/networks/network.h"
#include "footprint/trainer_manager/parameters/parameters.h"
#include "footprint/trainer_manager/runtime/manager.h"
#include "footprint/trainer_manager/runtime/plan_execution.h"

namespace footprint {
namespace tabular {
namespace {

constexpr int64_t kHiddenUnits = 50;

Network MakeNetwork(size_t feature_count, size_t batch_rows) {
  Network network;
  network.AddInput("features", {{static_cast<int64_t>(batch_rows),
                                 static_cast<int64_t>(feature_count)}});
  network.AddLayer("hidden1", FullyConnected(kHiddenUnits), {"features"});
  network.AddLayer("relu1", Relu(), {"hidden1"});
  network.AddLayer("hidden2", FullyConnected(kHiddenUnits), {"relu1"});
  network.AddLayer("relu2", Relu(), {"hidden2"});
  network.AddLayer("prediction", FullyConnected(1), {"relu2"});
  network.AddLayer("loss", MeanSquaredError(), {"prediction"});
  return network;
}

// The weights of a network, and the manager that runs it.
struct RunningNetwork {
  std::shared_ptr<Parameters> parameters;
  std::unique_ptr<Manager> manager;

  size_t parameter_count() const {
    size_t count = 0;
    for (const Parameters::Parameter& parameter : parameters->all()) {
      count += parameter.values.size();
    }
    return count;
  }
};

// Plans and starts a network. The plan's memory is free when this returns.
// `optimizer` is null for inference.
absl::StatusOr<RunningNetwork> Start(size_t feature_count, size_t batch_rows,
                                     const OptimizerPointer& optimizer,
                                     uint64_t seed) {
  const bool trains = optimizer != nullptr;
  const absl::StatusOr<ExecutionPlan> plan = PlanExecution(
      MakeNetwork(feature_count, batch_rows),
      trains ? NetworkMode::kTraining : NetworkMode::kInference,
      MemoryOptions(), trains ? optimizer->states_per_weight() : 0);
  if (!plan.ok()) return plan.status();
  absl::StatusOr<std::shared_ptr<Parameters>> parameters =
      Parameters::Create(*plan, seed);
  if (!parameters.ok()) return parameters.status();
  ManagerOptions options;
  options.optimizer = optimizer;
  options.retain_arena = true;
  absl::StatusOr<std::unique_ptr<Manager>> manager =
      Manager::Create(*plan, *parameters, options);
  if (!manager.ok()) return manager.status();
  return RunningNetwork{*std::move(parameters), *std::move(manager)};
}

// The means and deviations of the columns, which are part of the model's
// parameters.
template <typename Number>
struct Standard {
  Standard(size_t column_count, absl::Span<Number> parameters)
      : means(parameters.subspan(0, column_count)),
        deviations(parameters.subspan(column_count, column_count)) {}

  float Of(const double* row, size_t column) const {
    return static_cast<float>((row[column] - means[column]) /
                              deviations[column]);
  }

  // Writes the standardised features of a row to `features`. Returns the
  // position after them.
  float* CopyFeatures(const double* row, float* features) const {
    const size_t feature_count = means.size() - 1;
    for (size_t i = 0; i < feature_count; ++i) features[i] = Of(row, i);
    return features + feature_count;
  }

  absl::Span<Number> means;
  absl::Span<Number> deviations;
};

// Fails if the loss over an epoch shows that the training diverged. One batch
// would not do, since it may hold an outlier. With standardised targets,
// predicting the mean for every row has a loss of 1.
absl::Status CheckLoss(double epoch_loss) {
  constexpr double kWorstLoss = 10;
  if (epoch_loss <= kWorstLoss) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrFormat(
      "the training diverged: over the last epoch its squared error was %.3g "
      "times that of predicting the mean; lower --learning_rate",
      epoch_loss));
}

// Runs training steps until each row was taken `epochs` times. Rows of one more
// epoch fill the last batch.
absl::Status Train(const Table& table, const NeuralNetworkOptions& options,
                   const Standard<double>& standard, Manager* manager) {
  const absl::StatusOr<absl::Span<float>> features = manager->InputValues(0);
  if (!features.ok()) return features.status();
  const absl::StatusOr<absl::Span<float>> targets = manager->LabelValues();
  if (!targets.ok()) return targets.status();
  RowStream rows(table.row_count(), options.seed);
  size_t rows_left = table.row_count() * static_cast<size_t>(options.epochs);
  double last_epoch_loss = 0;
  int64_t last_epoch_steps = 0;
  while (rows_left > 0) {
    float* next = features->data();
    for (float& target : *targets) {
      const double* row = table.Row(rows.Next());
      next = standard.CopyFeatures(row, next);
      target = standard.Of(row, table.feature_count());
    }
    const absl::StatusOr<float> loss = manager->TrainStep();
    if (absl::IsOutOfRange(loss.status())) {
      return absl::FailedPreconditionError(
          "the training diverged: the error grew beyond all bounds; lower "
          "--learning_rate");
    }
    if (!loss.ok()) return loss.status();
    if (rows_left <= table.row_count()) {
      last_epoch_loss += *loss;
      ++last_epoch_steps;
    }
    rows_left -= std::min(rows_left, targets->size());
  }
  return CheckLoss(last_epoch_loss / static_cast<double>(last_epoch_steps));
}

void SetParameters(absl::Span<const double> values, Parameters* parameters) {
  auto next = values.begin();
  for (const Parameters::Parameter& parameter : parameters->all()) {
    for (float& value : parameter.values) value = static_cast<float>(*next++);
  }
}

}  // namespace

int64_t NeuralNetwork::FitBytes(size_t feature_count) const {
  const int64_t features = static_cast<int64_t>(feature_count);
  const int64_t batch_rows = static_cast<int64_t>(options_.batch_rows);
  constexpr int64_t kArenaAndPlanBytes = int64_t{115} << 10;
  return 12 * (50 * features + 2701) + 4 * batch_rows * (features + 1) +
         200 * features + kArenaAndPlanBytes;
}

absl::StatusOr<Model> NeuralNetwork::Fit(const Table& table) const {
  // Checks the table and the options.
  if (table.row_count() == 0 || table.feature_count() == 0) {
    return absl::InvalidArgumentError(
        "a table without rows or features teaches nothing");
  }
  const float learning_rate = static_cast<float>(std::min<double>(
      options_.learning_rate, std::numeric_limits<float>::max()));
  if (options_.epochs < 1 || options_.batch_rows < 1 ||
      !(options_.learning_rate > 0)) {
    return absl::InvalidArgumentError(
        "epochs, rows in a batch and learning rate must be above zero");
  }
  if (learning_rate == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("the learning rate is ", options_.learning_rate,
                     ", which training in float takes for zero; give 1e-45 "
                     "or more"));
  }
  Model model;
  // The model begins with the means and deviations of the columns.
  model.estimator = name();
  model.feature_count = table.feature_count();
  model.parameters.resize(2 * table.column_count());
  const Standard<double> standard(table.column_count(),
                                  absl::MakeSpan(model.parameters));
  absl::Status status =
      ComputeColumnStatistics(table, standard.means, standard.deviations);
  if (!status.ok()) return status;
  // Trains the network.
  absl::StatusOr<RunningNetwork> network = Start(
      table.feature_count(), std::min(options_.batch_rows, table.row_count()),
      Adam(learning_rate), options_.seed);
  if (!network.ok()) return network.status();
  status = Train(table, options_, standard, network->manager.get());
  if (!status.ok()) return status;
  // Frees the memory of the training before the model needs its own.
  network->manager.reset();
  model.parameters.reserve(model.parameters.size() +
                           network->parameter_count());
  for (const Parameters::Parameter& parameter : network->parameters->all()) {
    model.parameters.insert(model.parameters.end(), parameter.values.begin(),
                            parameter.values.end());
  }
  return model;
}

absl::Status NeuralNetwork::Predict(const Model& model, const Table& table,
                                    absl::Span<double> predictions) const {
  const size_t feature_count = table.feature_count();
  const absl::Status wrong_model = absl::InvalidArgumentError(absl::StrCat(
      "the model is for ", model.feature_count, " features, the table has ",
      feature_count, "; predict with the model of a like table"));
  if (model.feature_count != feature_count ||
      predictions.size() != table.row_count()) {
    return wrong_model;
  }
  // Starts the network with the model's parameters. The first of them are the
  // mean and the deviation of each column.
  const size_t batch_rows =
      std::max<size_t>(1, std::min(options_.batch_rows, table.row_count()));
  const absl::StatusOr<RunningNetwork> network =
      Start(feature_count, batch_rows, /*optimizer=*/nullptr, /*seed=*/0);
  if (!network.ok()) return network.status();
  const absl::Span<const double> parameters = model.parameters;
  if (parameters.size() !=
      2 * table.column_count() + network->parameter_count()) {
    return wrong_model;
  }
  const Standard<const double> standard(table.column_count(), parameters);
  SetParameters(parameters.subspan(2 * table.column_count()),
                network->parameters.get());
  // Predicts batch by batch.
  std::vector<float> features(batch_rows * feature_count);
  for (size_t first = 0; first < table.row_count(); first += batch_rows) {
    const size_t rows = std::min(batch_rows, table.row_count() - first);
    // The last batch may have unused rows; their predictions are not read.
    float* next = features.data();
    for (size_t i = 0; i < rows; ++i) {
      next = standard.CopyFeatures(table.Row(first + i), next);
    }
    const absl::Status status =
        network->manager->Infer({InputView(absl::MakeConstSpan(features))});
    if (!status.ok()) return status;
    const absl::StatusOr<absl::Span<const float>> outputs =
        network->manager->Output();
    if (!outputs.ok()) return outputs.status();
    for (size_t i = 0; i < rows; ++i) {
      predictions[first + i] =
          standard.means.back() + standard.deviations.back() * (*outputs)[i];
    }
  }
  return absl::OkStatus();
}

}  // namespace tabular
}  // namespace footprint
