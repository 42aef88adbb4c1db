// The training example of README.md.

#include <iostream>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "footprint/base/files/standard_output.h"
#include "footprint/trainer_manager/layers/activations.h"
#include "footprint/trainer_manager/layers/fully_connected.h"
#include "footprint/trainer_manager/layers/losses.h"
#include "footprint/trainer_manager/layers/optimizer.h"
#include "footprint/trainer_manager/networks/network.h"
#include "footprint/trainer_manager/parameters/parameters.h"
#include "footprint/trainer_manager/runtime/manager.h"
#include "footprint/trainer_manager/runtime/plan_execution.h"

namespace {

absl::StatusOr<float> Train() {
  // region training
  footprint::Network network;
  network.AddInput("rows", {{4, 2}});
  network.AddLayer("hidden", footprint::FullyConnected(8), {"rows"});
  network.AddLayer("relu", footprint::Relu(), {"hidden"});
  network.AddLayer("prediction", footprint::FullyConnected(1), {"relu"});
  network.AddLayer("loss", footprint::MeanSquaredError(), {"prediction"});

  const auto plan = footprint::PlanExecution(
      network, footprint::NetworkMode::kTraining, footprint::MemoryOptions());
  if (!plan.ok()) return plan.status();
  std::cout << plan->planned_bytes() << " bytes; these steps need at least "
            << plan->bound_bytes() << "\n";

  const auto parameters = footprint::Parameters::Create(*plan, /*seed=*/1);
  if (!parameters.ok()) return parameters.status();
  footprint::ManagerOptions options;
  options.optimizer = footprint::StochasticGradientDescent(0.1f);
  const auto manager = footprint::Manager::Create(*plan, *parameters, options);
  if (!manager.ok()) return manager.status();

  absl::StatusOr<float> loss;
  for (int step = 0; step < 200; ++step) {
    absl::Status status =
        (*manager)->SetInput(0, std::vector<float>{0, 0, 0, 1, 1, 0, 1, 1});
    if (status.ok()) {
      status = (*manager)->SetLabel(std::vector<float>{0, 1, 1, 2});
    }
    if (!status.ok()) return status;
    loss = (*manager)->TrainStep();
    if (!loss.ok()) return loss;
  }
  // endregion
  return loss;
}

}  // namespace

int main() {
  const absl::StatusOr<float> loss = Train();
  if (!loss.ok()) {
    std::cerr << loss.status() << "\n";
    return 1;
  }
  std::cout << "loss " << *loss << "\n";
  return footprint::FinishStandardOutput("training_example",
                                         *loss < 0.01f ? 0 : 1);
}
