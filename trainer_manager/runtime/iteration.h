// Whole passes over the steps of a plan: an iteration of training, all or
// nothing as far as that goes, or an inference.
//
//   footprint::Iteration iteration(&runner, &buffers);
//   absl::StatusOr<float> loss = iteration.Train();
//
// Keeps both, which must outlive it; the runner has an arena.
// Thread-compatible. Memory: two pointers, and the text of an error.

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

  // Errors: those of Manager::TrainStep once it runs.
  absl::StatusOr<float> Train();
  // Errors: those of Manager::Infer and Evaluate once they run.
  absl::Status Infer();

  // The layer that reads a value first, before the text of the error.
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
