// Trainings for tests: makes plan, parameters and manager at once, and draws
// random data.
//
//   Training training = Train(TabularMlp(8));
//   SetRows(training.manager.get());
//   absl::StatusOr<float> loss = training.manager->TrainStep();
//
// A failure fails the calling test, or ends it. Equal seeds give equal values.
// A Training owns its three parts; returned values are copies.
// Thread-compatible. Memory: the manager's, and the copies.

#ifndef FOOTPRINT_TRAINER_MANAGER_RUNTIME_TRAINING_HARNESS_H_
#define FOOTPRINT_TRAINER_MANAGER_RUNTIME_TRAINING_HARNESS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "footprint/trainer_manager/execution/execution_types.h"
#include "footprint/trainer_manager/networks/network.h"
#include "footprint/trainer_manager/parameters/parameters.h"
#include "footprint/trainer_manager/runtime/batch_buffers.h"
#include "footprint/trainer_manager/runtime/manager.h"
#include "footprint/trainer_manager/runtime/step_runner.h"

namespace footprint {

// Returns values between -1 and 1.
std::vector<float> RandomValues(size_t count, uint64_t seed);

struct Training {
  ExecutionPlan plan;
  std::shared_ptr<Parameters> parameters;
  std::unique_ptr<Manager> manager;
};

// Returns a training of which no step is done. Its optimizer is stochastic
// gradient descent at rate 0.05 unless the options have another.
Training Train(const Network& network, const MemoryOptions& memory = {},
               ManagerOptions options = {});

// The parts of a manager of TabularMlp(4), whose batch is four rows of 13
// features. Training is by stochastic gradient descent at rate 0.01.
struct TabularSteps {
  explicit TabularSteps(NetworkMode mode, const MemoryOptions& memory = {},
                        bool watch_lent = false);

  // Sets each feature to 0.5.
  void SetBatch(const std::vector<float>& labels);

  const ExecutionPlan plan;
  const std::shared_ptr<Parameters> parameters;
  StepRunner runner;  // refers to the buffers, and they to its table
  BatchBuffers buffers;
};

// Sets the rows for TabularMlp(8): eight rows whose label is a function of
// them.
void SetRows(Manager* manager);

// Marks all inputs and the label as set. They are zeros unless they were set to
// other values before.
void SetZeros(const ExecutionPlan& plan, Manager* manager);

// Returns the values of all parameters, one after the other.
std::vector<float> AllParameters(const Parameters& parameters);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_RUNTIME_TRAINING_HARNESS_H_
