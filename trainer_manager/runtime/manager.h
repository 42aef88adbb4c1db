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
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "footprint/base/memory/memory_block.h"
#include "footprint/trainer_manager/execution/execution_types.h"
#include "footprint/trainer_manager/layers/layer.h"
#include "footprint/trainer_manager/layers/optimizer.h"
#include "footprint/trainer_manager/runtime/parameters.h"
#include "footprint/trainer_manager/runtime/plan_watch.h"
#include "footprint/trainer_manager/runtime/step_table.h"
#include "footprint/trainer_manager/runtime/swap_file.h"

namespace footprint {

struct ManagerOptions {
  OptimizerPointer optimizer;  // in training
  uint64_t seed = 0;           // of dropout
  // Gradients are scaled so that the square root of the sum of all their
  // squares is at most clip_norm (then plan with
  // MemoryOptions::clip_global_norm), and each value is cut to within +-
  // clip_value.
  float clip_norm = std::numeric_limits<float>::infinity();
  float clip_value = std::numeric_limits<float>::infinity();
  // Where the plan swaps: the folder of the file, which is reserved by Create
  // and has no name.
  std::string swap_folder;
  // In inference: keep the arena for the next one (a burst); else it is freed
  // at the end of each.
  bool retain_arena = false;
  // For debugging. Fills the arena with NaN before each iteration and a
  // tensor's bytes after its last step, and checks that a step reads of each
  // tensor what was written, and writes finite values: what is used outside its
  // lifespan fails in the step that uses it.
  bool poison = false;
  // For debugging, in inference: fails if the caller's memory changes or is
  // unmapped meanwhile.
  bool watch_inputs = false;
};

// The values of an input, lent for a call.
class InputView {
 public:
  InputView(absl::Span<const float> values)  // NOLINT: converts
      : data_(values.data()), size_(values.size()), type_(DType::kF32) {}
  InputView(absl::Span<const int32_t> values)  // NOLINT: converts
      : data_(values.data()), size_(values.size()), type_(DType::kI32) {}

  const void* data() const { return data_; }
  size_t size() const { return size_; }
  DType type() const { return type_; }

 private:
  const void* data_;
  size_t size_;
  DType type_;
};

class Manager {
 public:
  // InvalidArgument: training without an optimizer, or with one of other
  // states than planned; a limit for gradients that is not above 0 or was not
  // planned; parameters that are not those of the network; a plan that swaps,
  // but no folder. ResourceExhausted: no memory, or no room for the swap file.
  // Of the folder: see SwapFile::Create.
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
  // changed. No weight takes an update that is not finite; an error names the
  // layer.
  //
  // FailedPrecondition: an input or the label was never set, or the plan is one
  // for inference. OutOfRange: an index in the data names nothing; an input, a
  // label, the loss, a running statistic, a gradient, or what a gradient would
  // make of a weight is NaN or infinite. ResourceExhausted: the swap file
  // cannot be written. DataLoss: it is damaged.
  //
  // Nothing of the model has changed then, unless a gradient, an update or
  // damage of the swap file is the reason and the plan changes weights layer by
  // layer: then running statistics have changed, the text says which layers'
  // weights have, and the last saved ones are to be loaded.
  // MemoryOptions::atomic_steps, micro-batches and clipping by global norm
  // change no weight before all are checked.
  absl::StatusOr<float> TrainStep();

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
  int64_t arena_bytes() const { return arena_.size_bytes(); }

  // The values of any tensor, by its name in the plan, as the last step left
  // it, valid until the next: float, int32_t (labels, indices) or uint8_t (the
  // places of a pooling, workspaces). `plan` must be equal to that of Create,
  // else InvalidArgument. NotFound: no such tensor. FailedPrecondition: its
  // place was given to others (plan with MemoryOptions::Debug to keep it), it
  // holds values of another type, or it lay in an arena that is released.
  template <typename Value = float>
  absl::StatusOr<absl::Span<const Value>> Inspect(const ExecutionPlan& plan,
                                                  absl::string_view name) const;

 private:
  using Step = StepTable::Step;
  using Slots = absl::Span<const StepData::Slot>;
  struct Buffer {
    char* data;  // null: the caller's
    uint32_t spec;
    bool is_set;
  };
  explicit Manager(StepTable table) : table_(std::move(table)) {}
  absl::Status Bind(const ExecutionPlan& plan);
  void FindSteps(const ExecutionPlan& plan);
  absl::Status OpenSwapFile(const ExecutionPlan& plan);
  Buffer FixedBuffer(const ExecutionPlan& plan, size_t tensor) const;
  const TensorType& SpecOf(const Buffer& buffer) const {
    return table_.specs()[buffer.spec];
  }
  absl::Status CheckMode(NetworkMode mode) const;
  absl::Status CopyTo(std::vector<Buffer>* buffers, const char* what,
                      size_t index, InputView values);
  template <typename Value>
  absl::StatusOr<absl::Span<Value>> ValuesOf(std::vector<Buffer>* buffers,
                                             const char* what, size_t index);
  absl::Status CheckBatch();
  absl::Status CheckData(const Buffer& buffer, const char* what, size_t index);
  const Buffer& LentBuffer(size_t index) const;
  absl::Status Lend(size_t index, InputView values);
  absl::Status LendAll(absl::Span<const InputView> inputs);
  absl::Status EnsureArena();
  absl::Status RunSteps(size_t begin, size_t end, size_t* failed);
  absl::Status RunStep(size_t index);
  absl::Status RunKind(const Step& step, Slots slots, const StepData& data);
  absl::Status RunSwap(const Step& step, const StepData& data);
  absl::Status RunForward(size_t* failed);
  absl::Status PrepareUpdates();
  absl::Status ApplyUpdate(const StepData& data);
  bool IsAtomic() const { return commit_step_ < table_.steps().size(); }
  bool IsLastMicroBatch() const { return micro_batch_ + 1 == micro_batches_; }
  bool RestoreStatistics(size_t failed);
  absl::Status Undo(const absl::Status& status, size_t failed);
  absl::Status CheckInputsUnchanged(const Step& step, Slots slots) const;
  absl::Status CheckOutputs();
  absl::Status ExplainForward(const std::string& what, size_t end);
  absl::Status ExplainGradients();
  absl::Status ExplainStatistics();
  Slots SlotsOf(const Step& step);
  StepData DataOf(const Step& step, Slots slots) const;
  absl::Status InLayer(const Step& step, const absl::Status& status) const;
  uint64_t SeedOf(size_t layer) const;

  std::shared_ptr<Parameters> parameters_;
  ManagerOptions options_;
  NetworkMode mode_ = NetworkMode::kInference;
  uint32_t loss_step_ = 0;
  const MathBackend* math_ = nullptr;
  std::vector<LayerPointer> layers_;
  StepTable table_;
  std::unique_ptr<PlanWatch> watch_;   // only to poison
  std::unique_ptr<SwapFile> swapped_;  // only if the plan swaps
  uint64_t plan_fingerprint_ = 0;
  std::vector<Buffer> inputs_;
  std::vector<Buffer> labels_;
  std::vector<Buffer> outputs_;
  std::vector<const void*> user_inputs_;  // then the label, with a loss
  std::vector<uint64_t> fingerprints_;    // of them, to watch_inputs
  float* loss_ = nullptr;                 // in inference null without a loss
  // The number of steps where there is none: the step that restores statistics,
  // and in a plan that changes no weight before all gradients are known, the
  // one behind which only updates follow.
  uint32_t restore_step_ = 0;
  uint32_t commit_step_ = 0;
  int64_t arena_size_bytes_ = 0;
  int64_t iteration_ = 0;
  int64_t micro_batches_ = 1;
  int64_t micro_batch_ = 0;  // that runs
  MemoryBlock arena_;
};

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_RUNTIME_MANAGER_H_
