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
// In training inputs, label and loss are the manager's, allocated once; fill
// them before each step, with the whole batch if there are micro-batches. In
// inference inputs, and the label if the plan keeps the loss, are the caller's
// memory, lent for the call and never copied, and outputs are the manager's.
// Everything else lies in one arena, allocated by the first step and freed by
// ReleaseArena. The plan may be destroyed after Create; its math backend must
// outlive the manager. A step asks the heap for nothing, unless it fails or has
// to allocate the arena. A step reads inputs, label, gradients and weights once
// more to look for NaN and infinity: about one percent of its time.
//
// Thread-compatible; two managers must not train the same parameters at once.
// Memory: the plan's fixed_bytes and arena height; besides, about 20 bytes for
// each operand of each step (see step_table.h).

#ifndef FOOTPRINT_TRAINER_MANAGER_RUNTIME_MANAGER_H_
#define FOOTPRINT_TRAINER_MANAGER_RUNTIME_MANAGER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
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
  // InvalidArgument: a plan that was edited; training without an optimizer, or
  // with one of other states than planned, or that cannot train a group; a
  // limit for gradients that is not above 0 or was not planned; parameters that
  // are not those of the network; a plan that swaps, but no folder.
  // ResourceExhausted: no memory, or no room for the swap file. The folder is
  // that of SwapFile::Create.
  static absl::StatusOr<std::unique_ptr<Manager>> Create(
      const ExecutionPlan& plan, std::shared_ptr<Parameters> parameters,
      const ManagerOptions& options);

  // Training. InvalidArgument: no such input, or values of another number or
  // type than it takes, or that are null or not aligned. FailedPrecondition:
  // the plan is one for inference.
  absl::Status SetInput(size_t index, absl::Span<const float> values);
  absl::Status SetInput(size_t index, absl::Span<const int32_t> values);
  absl::Status SetLabel(absl::Span<const float> values);
  absl::Status SetLabel(absl::Span<const int32_t> values);

  // Training. Where the values of the whole batch lie, float or int32_t, to be
  // written in place of the two above: no copy. Valid as long as the manager;
  // who asks counts as having set them. InvalidArgument: no such input, or one
  // of another type. FailedPrecondition: the plan is one for inference.
  template <typename Value = float>
  absl::StatusOr<absl::Span<Value>> InputValues(size_t index);
  template <typename Value = float>
  absl::StatusOr<absl::Span<Value>> LabelValues();

  // Training: runs all steps and returns the loss from before the weights
  // changed. No weight takes an update that is not finite, unless the optimizer
  // is the caller's and did not foresee it, which is an error, too. An error
  // names the layer.
  //
  // FailedPrecondition: an input or the label was never set, or the plan is one
  // for inference. OutOfRange: an index in the data names nothing; an input, a
  // label, the loss, a running statistic, a gradient, or what a gradient would
  // make of a weight is NaN or infinite. InvalidArgument: in the first step, a
  // layer's Recompute does not give what its Forward gave. ResourceExhausted:
  // the swap file cannot be written. DataLoss: it is damaged.
  //
  // Nothing of the model has changed then, unless a gradient, an update or
  // damage of the swap file is the reason and the plan changes weights layer by
  // layer: then running statistics have changed, the text says which layers'
  // weights have, and the last saved ones are to be loaded.
  // MemoryOptions::atomic_steps, micro-batches and clipping by global norm
  // change no weight before all are checked.
  absl::StatusOr<float> TrainStep();

  // Training. Trains by this optimizer from the next step on, with what the one
  // before remembers: for a rate that follows the losses. InvalidArgument: no
  // optimizer, one of another name or number of states, or one whose parameters
  // train nothing.
  absl::Status ReplaceOptimizer(OptimizerPointer optimizer);

  // Training. The steps that were done, those before ResumeTraining included.
  int64_t iteration() const { return runner_.iteration(); }

  // Inference. `inputs` are one for each input of the network, of its size.
  // InvalidArgument: they are not, or are null or not aligned.
  // FailedPrecondition: the plan is one for training, or keeps the loss, which
  // needs a label; an input changed or was released meanwhile (watch_inputs).
  // OutOfRange: an index in the data names nothing; an output is NaN or
  // infinite, and the text names the layer where the first appeared. Looking is
  // one pass over the outputs.
  absl::Status Infer(absl::Span<const InputView> inputs);

  // Inference with a plan that keeps the loss (MemoryOptions::keep_loss): as
  // Infer, and returns the loss, a mean as in training; outputs are there, too.
  // FailedPrecondition: the plan has no loss. OutOfRange: a label names no
  // class, or the loss or an output is not finite; the text names the layer
  // where the first NaN or infinity appeared.
  absl::StatusOr<float> Evaluate(absl::Span<const InputView> inputs,
                                 InputView label);

  // Output `index`, valid until the next step; in training only if it is kept,
  // and with micro-batches that of the last. InvalidArgument: no such output.
  absl::StatusOr<absl::Span<const float>> Output(size_t index = 0) const;

  // Frees the arena. The next step allocates it again.
  void ReleaseArena();
  int64_t arena_bytes() const { return runner_.arena().size_bytes(); }

  // The values of any tensor, by its name in the plan, as the last step left
  // it, valid until the next: float, int32_t (labels, indices) or uint8_t (the
  // places of a pooling, workspaces). `plan` must be equal to that of Create,
  // else InvalidArgument. NotFound: no such tensor. FailedPrecondition: its
  // place was given to others (plan with MemoryOptions::Debug to keep it), it
  // holds values of another type, or it lay in an arena that is released.
  template <typename Value = float>
  absl::StatusOr<absl::Span<const Value>> Inspect(const ExecutionPlan& plan,
                                                  absl::string_view name) const;

  // Training. All that an iteration changes and the next one reads: weights and
  // running statistics by their names, and what the optimizer remembers of each
  // weight by that name and kStateEnding (parameter_file.h) with a number.
  // Names and shapes are copies, values are the manager's. `plan` as of
  // Inspect.
  struct TrainedTensor {
    std::string name;
    Shape shape;
    absl::Span<float> values;
  };
  absl::StatusOr<std::vector<TrainedTensor>> TrainedTensors(
      const ExecutionPlan& plan) const;
  // Says how many steps were done, for ResumeTraining.
  void set_iteration(int64_t iteration) { runner_.set_iteration(iteration); }
  // Returns the options' seed, and the optimizer that trains now.
  uint64_t seed() const { return runner_.seed(); }
  const OptimizerPointer& optimizer() const { return runner_.optimizer(); }

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
