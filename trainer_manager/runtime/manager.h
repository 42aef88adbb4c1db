// Runs an execution plan: trains or infers in the memory that was planned.
//
//   auto plan = PlanExecution(network, NetworkMode::kTraining, {},
//                             optimizer->states_per_weight());
//   auto parameters = Parameters::Create(*plan, seed);
//   ManagerOptions options;
//   options.optimizer = optimizer;
//   auto manager = Manager::Create(*plan, *parameters, options);
//   (*manager)->SetInput(0, rows);
//   (*manager)->SetLabel(labels);
//   absl::StatusOr<float> loss = (*manager)->TrainStep();
//
// In training the manager owns inputs, label and loss and allocates them once.
// Fill them before each step, with the whole batch if there are micro-batches.
// In inference the caller lends the inputs, and the label if the plan keeps the
// loss; they are never copied, and the manager owns the outputs. Everything
// else is in one arena, which a step allocates if there is none and
// ReleaseArena frees; an inference frees it at its end, unless
// ManagerOptions::retain_arena is set. The plan may be destroyed after Create;
// its math backend must outlive the manager. A step allocates nothing, unless
// it fails or has to allocate the arena. A step reads inputs, label, gradients
// and weights once more to look for NaN and infinity, which takes about one
// percent of its time.
//
// Thread-compatible; two managers must not train the same parameters at once.
// Memory: the plan's fixed_bytes and arena height, and about 20 bytes for each
// operand of each step (see step_table.h).

#ifndef FOOTPRINT_TRAINER_MANAGER_RUNTIME_MANAGER_H_
#define FOOTPRINT_TRAINER_MANAGER_RUNTIME_MANAGER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "footprint/trainer_manager/execution/execution_types.h"
#include "footprint/trainer_manager/layers/optimizer.h"
#include "footprint/trainer_manager/layers/tensor_type.h"
#include "footprint/trainer_manager/parameters/parameters.h"
#include "footprint/trainer_manager/runtime/batch_buffers.h"
#include "footprint/trainer_manager/runtime/group_optimizers.h"
#include "footprint/trainer_manager/runtime/input_view.h"
#include "footprint/trainer_manager/runtime/iteration.h"
#include "footprint/trainer_manager/runtime/manager_options.h"
#include "footprint/trainer_manager/runtime/step_runner.h"
#include "footprint/trainer_manager/runtime/step_table.h"

namespace footprint {

class Manager {
 public:
  // Creates a manager. Returns InvalidArgument if the plan was edited, if
  // training has no optimizer or one that has another number of states than
  // planned or cannot train a group, if a limit for gradients is not above 0 or
  // was not planned, if the parameters are not those of the network, or if the
  // plan swaps and there is no folder. Returns ResourceExhausted if there is no
  // memory or no room for the swap file. Other errors are those of
  // SwapFile::Create for the folder.
  static absl::StatusOr<std::unique_ptr<Manager>> Create(
      const ExecutionPlan& plan, std::shared_ptr<Parameters> parameters,
      const ManagerOptions& options);

  // For training: these copy the values of the whole batch. They return
  // InvalidArgument if there is no such input, or if values have the wrong
  // number or type or a null or unaligned address, and FailedPrecondition if
  // the plan is for inference.
  absl::Status SetInput(size_t index, absl::Span<const float> values);
  absl::Status SetInput(size_t index, absl::Span<const int32_t> values);
  absl::Status SetLabel(absl::Span<const float> values);
  absl::Status SetLabel(absl::Span<const int32_t> values);

  // For training: these return the memory of the whole batch's values, float or
  // int32_t, so that the caller can write them in place instead of copying.
  // It is valid as long as the manager; a call counts as having set the values.
  // They return InvalidArgument if there is no such input, or if it has another
  // type, and FailedPrecondition if the plan is for inference.
  template <typename Value = float>
  absl::StatusOr<absl::Span<Value>> InputValues(size_t index);
  template <typename Value = float>
  absl::StatusOr<absl::Span<Value>> LabelValues();

  // For training: runs all steps and returns the loss from before the weights
  // changed. No weight takes an update that is not finite, unless a custom
  // optimizer does not predict it (Optimizer::foresees_values); TrainStep then
  // fails after the update. An error names the layer.
  //
  // Returns FailedPrecondition if an input or the label was never set, or if
  // the plan is for inference. Returns OutOfRange if an index in the data is
  // out of range, or if an input, a label, the loss, a running statistic, a
  // gradient or an updated weight is NaN or infinite. Returns InvalidArgument
  // in the first step if a layer's Recompute differs from its Forward. Returns
  // ResourceExhausted if the arena cannot be allocated, DataLoss if the swap
  // file is damaged, and the errors of FileError if it cannot be written or
  // read. With ManagerOptions::poison, returns Internal if a step reads what
  // was not written, OutOfRange if it writes NaN or infinity, and compares
  // Recompute in each step.
  //
  // After an error the model is unchanged, unless the plan changes weights
  // layer by layer and the reason was a gradient, an update or damage of the
  // swap file. Then running statistics have changed, the message names the
  // layers whose weights have changed, and the caller should load the last
  // saved ones. With MemoryOptions::atomic_steps, micro-batches or clipping by
  // global norm, no weight changes before all are checked.
  absl::StatusOr<float> TrainStep();

  // For training: uses this optimizer from the next step on, with the states of
  // the one before, such as for a rate that depends on the losses. Returns
  // InvalidArgument if there is no optimizer, if its name or number of states
  // differs, if its parameters are not valid, if it cannot train a group, or if
  // the plan applies gradients by tiles and it is not elementwise. Returns
  // FailedPrecondition if the plan is for inference.
  absl::Status ReplaceOptimizer(OptimizerPointer optimizer);

  // For training: returns the number of completed steps, including those before
  // ResumeTraining. A step that failed after it had changed a weight counts,
  // too.
  int64_t iteration() const { return runner_.iteration(); }

  // For inference: computes the outputs. `inputs` holds one view for each input
  // of the network, of its size. Returns InvalidArgument if it does not, or if
  // an address is null or not aligned. Returns FailedPrecondition if the plan
  // is for training or keeps the loss, which needs a label, or if an input
  // changed or was released meanwhile (watch_inputs). Returns OutOfRange if an
  // index in the data is out of range, or if an output is NaN or infinite; the
  // message names the layer where that first appeared. The check takes one pass
  // over the outputs. Returns ResourceExhausted if the arena cannot be
  // allocated. With ManagerOptions::poison, returns Internal if a step reads
  // what was not written.
  absl::Status Infer(absl::Span<const InputView> inputs);

  // For inference with a plan that keeps the loss (MemoryOptions::keep_loss):
  // does the same as Infer and returns the loss, a mean as in training. Outputs
  // are available as well. Returns FailedPrecondition if the plan has no loss.
  // Returns OutOfRange if a label is not a class, or if the loss or an output
  // is not finite; the message names the layer where that first appeared.
  absl::StatusOr<float> Evaluate(absl::Span<const InputView> inputs,
                                 InputView label);

  // Returns output `index`, valid until the next step. In training it is
  // available only with MemoryOptions::keep_outputs; with micro-batches it is
  // that of the last one. Returns InvalidArgument if there is no such output.
  absl::StatusOr<absl::Span<const float>> Output(size_t index = 0) const;

  // Frees the arena. The next step allocates it again.
  void ReleaseArena();
  int64_t arena_bytes() const { return runner_.arena().size_bytes(); }

  // Returns the values of any tensor by its name in the plan, as the last step
  // left them, valid until the next step: float, int32_t (labels, indices) or
  // uint8_t (positions of a pooling, workspaces). Returns InvalidArgument
  // unless `plan` equals that of Create, and NotFound if there is no such
  // tensor. Returns FailedPrecondition if its memory was reused (plan with
  // MemoryOptions::Debug to keep it), if it holds values of another type, if it
  // lies in the memory of the caller, or if it was in an arena that is
  // released.
  template <typename Value = float>
  absl::StatusOr<absl::Span<const Value>> Inspect(const ExecutionPlan& plan,
                                                  absl::string_view name) const;

  // For training: returns all that an iteration changes and the next one reads.
  // Weights and running statistics have their own names; the optimizer's states
  // have the weight's name, kStateEnding (parameter_file.h) and a number. Names
  // and shapes are copies; the manager and the parameters own the values.
  // Returns InvalidArgument unless `plan` equals that of Create, and
  // FailedPrecondition if it is for inference.
  struct TrainedTensor {
    std::string name;
    Shape shape;
    absl::Span<float> values;
  };
  absl::StatusOr<std::vector<TrainedTensor>> TrainedTensors(
      const ExecutionPlan& plan) const;
  // Sets how many steps were completed. ResumeTraining calls this.
  void set_iteration(int64_t iteration) { runner_.set_iteration(iteration); }
  // These return the seed of the options, and the current optimizer.
  uint64_t seed() const { return runner_.seed(); }
  const OptimizerPointer& optimizer() const { return runner_.optimizer(); }
  // Returns a hash of the weights that the plan reads from their file
  // (ManagerOptions::weights_file), or nothing if it reads none.
  absl::optional<uint64_t> frozen_weights_fingerprint() const {
    return runner_.frozen_weights_fingerprint();
  }

 private:
  Manager(const ExecutionPlan& plan, StepTable table,
          std::shared_ptr<Parameters> parameters, const ManagerOptions& options,
          GroupOptimizers optimizers);
  absl::Status CheckMode(NetworkMode mode) const;
  absl::Status CheckPlan(const ExecutionPlan& plan) const;
  absl::Status Set(BatchPart part, size_t index, InputView values);
  template <typename Value>
  absl::StatusOr<absl::Span<Value>> ValuesToFill(BatchPart part, size_t index);
  absl::Status RunInference();
  Iteration Passes() { return Iteration(&runner_, &buffers_); }

  const std::shared_ptr<Parameters> parameters_;
  const NetworkMode mode_;
  const int optimizer_states_;  // for each weight
  const bool retain_arena_;
  const uint64_t plan_fingerprint_;
  StepRunner runner_;
  BatchBuffers buffers_;
};

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_RUNTIME_MANAGER_H_
