// Runs whole passes over the steps of a plan: an inference, or an iteration of
// training, which as far as possible changes everything or nothing.
//
//   footprint::Iteration iteration(&runner, &buffers);
//   absl::StatusOr<float> loss = iteration.Train();
//
// Keeps both pointers, whose objects must outlive it; the runner must have an
// arena. Thread-compatible. Memory: two pointers, and the text of an error.

#ifndef FOOTPRINT_TRAINER_MANAGER_RUNTIME_ITERATION_H_
#define FOOTPRINT_TRAINER_MANAGER_RUNTIME_ITERATION_H_

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "footprint/trainer_manager/runtime/batch_buffers.h"
#include "footprint/trainer_manager/runtime/step_runner.h"

namespace footprint {

class Iteration {
 public:
  Iteration(StepRunner* runner, const BatchBuffers* buffers)
      : runner_(runner), buffers_(buffers) {}

  // Runs an iteration and returns its loss. Errors: those of Manager::TrainStep
  // while it runs.
  absl::StatusOr<float> Train();
  // Runs an inference. Errors: those of Manager::Infer and Evaluate while they
  // run.
  absl::Status Infer();

  // Returns the error with a prefix, the name of the first layer that reads the
  // value; without one if no forward step reads it.
  absl::Status InFirstReader(const void* value, const absl::Status& status);

 private:
  absl::Status RunForward(size_t* failed);
  absl::Status CheckLoss();
  absl::Status Undo(const absl::Status& status, size_t failed);
  absl::Status ExplainForward(const std::string& what, size_t end);

  StepRunner* const runner_;
  const BatchBuffers* const buffers_;
};

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_RUNTIME_ITERATION_H_
