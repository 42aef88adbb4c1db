// A training or an inference with all that belongs to it: plan, parameters,
// managers. The C interface (footprint_trainer.h) is a shell around it.
//
//   auto trainer = footprint::Trainer::Plan(network, settings);
//   absl::Status status = (*trainer)->Create();
//   status = (*trainer)->Set(0, footprint::InputView(rows));
//   status = (*trainer)->Set(footprint::Trainer::kLabel,
//                            footprint::InputView(labels));
//   absl::StatusOr<float> loss = (*trainer)->Step();
//
// A C++ program uses the Manager (//trainer_manager:manager), which copies less
// and does more. Owns everything; thread-compatible. Memory: that of the plan
// once Create was called; in inference also a copy of the inputs. In a
// training, Infer uses an inference's arena in place of the training's, and
// keeps the outputs.

#ifndef FOOTPRINT_TRAINER_MANAGER_C_TRAINER_H_
#define FOOTPRINT_TRAINER_MANAGER_C_TRAINER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "footprint/trainer_manager/c/trainer_settings.h"
#include "footprint/trainer_manager/execution/execution_types.h"
#include "footprint/trainer_manager/math/math_backend.h"
#include "footprint/trainer_manager/networks/network.h"
#include "footprint/trainer_manager/parameters/parameters.h"
#include "footprint/trainer_manager/runtime/input_view.h"
#include "footprint/trainer_manager/runtime/manager.h"

namespace footprint {

class Trainer {
 public:
  // The slot of the label; inputs have the slots from 0 on.
  static constexpr int kLabel = -1;

  // Plans, and allocates none of the memory that the plan counts. Errors: those
  // of PlanExecution.
  static absl::StatusOr<std::unique_ptr<Trainer>> Plan(
      Network network, TrainerSettings settings);

  // Allocates, and draws the first weights. Returns FailedPrecondition if it
  // was called before. Other errors are those of Parameters::Create and
  // Manager::Create.
  absl::Status Create();

  // Copies the values of one batch. Returns InvalidArgument if there is no such
  // slot, or if CheckInputView (input_view.h) refuses the values. This and the
  // following functions return FailedPrecondition if Create was not called, or
  // if the mode does not suit the call.
  absl::Status Set(int slot, InputView values);

  // Trains by one batch; see Manager::TrainStep.
  absl::StatusOr<float> Step();

  // Computes the outputs for the inputs that are set, with the weights as they
  // are; see Manager::Infer. Returns FailedPrecondition if an input was never
  // set. In a training, the first call plans an inference and makes its
  // manager, with the errors of PlanExecution and Manager::Create, and each
  // call releases the training's arena.
  absl::Status Infer();

  // Returns an output of the last Infer, valid until the next call. Returns
  // FailedPrecondition if the last Infer has not succeeded, or if Load came
  // after it. Returns InvalidArgument if there is no such output.
  absl::StatusOr<absl::Span<const float>> Output(size_t index) const;

  // Returns the values of a weight or a running statistic, by its name; valid
  // as long as the trainer. Returns NotFound if there is none of that name.
  absl::StatusOr<absl::Span<const float>> Weight(absl::string_view name) const;

  // These save the weights, or all that a training needs to continue. Errors:
  // those of SaveParameters and of SaveTraining.
  absl::Status SaveWeights(absl::string_view path) const;
  absl::Status SaveTraining(absl::string_view path) const;
  // Loads a file of either kind. A training continues from a file of a
  // training. From a file of weights it takes only these; its iteration and
  // optimizer states stay. An inference takes the weights of either file.
  // Errors: those of LoadParameters and ResumeTraining. Whether it fails or
  // not, Output fails until the next Infer.
  absl::Status Load(absl::string_view path);

  const ExecutionPlan& plan() const { return plan_; }
  // Returns the steps that were done; 0 in inference.
  int64_t iteration() const;
  // Returns the name of the step that needs most of the arena; empty for a plan
  // without steps.
  const std::string& largest_step() const { return largest_step_; }

 private:
  // `team` is null if there is one thread.
  Trainer(Network network, TrainerSettings settings,
          std::unique_ptr<const MathBackend> team, ExecutionPlan plan);
  absl::Status CheckCreated() const;
  absl::Status CheckSlot(int slot) const;
  // Copies values for an inference, which has no manager to keep them.
  absl::Status Keep(size_t slot, InputView values);
  // Returns the manager for inference, which a training makes at its first
  // Infer.
  absl::StatusOr<Manager*> FindInference();
  absl::StatusOr<std::vector<InputView>> FindInputs();

  const Network network_;
  const TrainerSettings settings_;
  const std::unique_ptr<const MathBackend> team_;
  const ExecutionPlan plan_;
  const std::string largest_step_;
  std::shared_ptr<Parameters> parameters_;
  std::unique_ptr<Manager> training_;
  std::unique_ptr<Manager> inference_;
  std::vector<bool> is_set_;  // by input
  bool has_inferred_ = false;
  // The inputs of an inference. The values of each are in one of the two.
  std::vector<std::vector<float>> floats_;
  std::vector<std::vector<int32_t>> integers_;
};

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_C_TRAINER_H_
