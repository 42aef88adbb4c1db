// The parts of an execution plan: options, tensors, storages and steps.
//
//   for (const size_t t : footprint::CertificateTensors(*plan)) {
//     std::cout << plan->tensors[t].name << " " << plan->tensors[t].size_bytes;
//   }
//
// The planner is execution_plan.h. Pure data, thread-compatible; keeps the
// layers alive; the math backend, which lives elsewhere, must outlive the plan.
// Memory: about a kibibyte a layer.

#ifndef FOOTPRINT_TRAINER_MANAGER_EXECUTION_EXECUTION_TYPES_H_
#define FOOTPRINT_TRAINER_MANAGER_EXECUTION_EXECUTION_TYPES_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "footprint/trainer_manager/layers/layer.h"
#include "footprint/trainer_manager/layers/tensor_type.h"
#include "footprint/trainer_manager/networks/network.h"
#include "footprint/trainer_manager/planner/plan.h"

namespace footprint {

struct MemoryOptions {
  // A layer's gradients are applied before the next layer's are calculated;
  // else at the end of the iteration, all of them.
  bool share_gradients = true;
  // A layer reads its input where the previous one wrote its output; else it
  // gets a copy.
  bool share_edges = true;
  // Activations and what layers save give up their place after their last
  // reader, to derivatives above all.
  bool reuse_activations = true;
  // Derivatives give up their place after their last reader.
  bool reuse_derivatives = true;
  // A step writes where it reads if nobody needs what it read.
  bool in_place = true;
  // A workspace is taken for its step only.
  bool reuse_workspaces = true;
  // A derivative that an activation will take next is calculated a slice of the
  // batch at a time where the certificate names it, taken through the
  // activation, and written over the activation's output. Needs all but the
  // first of the above.
  bool slice_derivatives = true;
  // The output of a cheap layer (normalization, elementwise) is not kept for
  // the backward steps where what it was calculated from is kept anyway: it is
  // calculated again. Needs share_edges.
  bool recompute_outputs = true;
  // The activation before a max pooling is not kept: where its derivative is
  // not zero, it is the pooled output. Its derivative is calculated by slices.
  // Needs share_edges.
  bool restore_pooled = true;
  // Max pooling saves places in as few bits as they need, else in bytes.
  bool pack_winners = true;

  // The number of parts of a batch in training, which are calculated one after
  // the other; the sums of their gradients, as large as the weights, wait for
  // the last. It changes the order of sums, and what normalization over a batch
  // is over. Must divide the batch.
  int64_t micro_batches = 1;
  // Gradients wait for all others in training, for ManagerOptions::clip_norm.
  bool clip_global_norm = false;
  // In training: a step changes no weight before all gradients, and what they
  // would make of the weights, are known to be finite, so that a step that is
  // refused leaves the model as it was, whatever the reason (but for an own
  // optimizer without StaysFinite). Gradients then
  // wait for each other: at most their bytes, as many as the weights take, and
  // the same bits in a time that is longer by a tenth at most, since they are
  // read from further away (docs/results/trainer_manager.md). It is so anyway,
  // at no cost, with micro-batches, clip_global_norm or without
  // share_gradients.
  bool atomic_steps = false;
  // The most that planned_bytes() may be in training. Beyond what costs next to
  // nothing, outputs are then dropped and calculated again, segment by segment,
  // at most one more forward pass in all, until that is reached. Budgets below
  // what that reaches may take several passes more.
  int64_t budget_bytes = std::numeric_limits<int64_t>::max();
  // The search may raise micro_batches where that does not reach the budget, to
  // any number that divides the batch. Where a layer keeps statistics of its
  // batch, they are then of a part, and so the result is another:
  // ExecutionPlan::LayersOfPartStatistics names such layers.
  bool choose_micro_batches = false;
  // Backward steps may read again from a file (ManagerOptions::swap_folder)
  // what was written to it in between, where neither reaches the budget. Needs
  // share_edges.
  bool swap_to_file = false;
  // The loss's inputs stay readable after the iteration in training.
  bool keep_outputs = false;
  // Inference keeps the loss; the label is lent with the inputs
  // (Manager::Evaluate).
  bool keep_loss = false;
  // The alignment of every tensor: a power of two, from 4 to 64.
  int64_t alignment_bytes = 16;

  // All optimisations off: the debug mode.
  static MemoryOptions Debug();
};

enum class TensorKind : uint8_t {
  kWeight,
  kRunningStatistic,
  kOptimizerState,
  kGradientSum,  // over micro-batches
  kInput,
  kLabel,
  kOutput,
  kStatisticCopy,  // from before the iteration, for a loss that is refused
  kActivation,
  kSaved,
  kGradient,
  kDerivative,
  kWorkspace,
};
constexpr int kTensorKinds = 13;

absl::string_view TensorKindName(TensorKind kind);

// Whose memory a tensor lies in.
enum class StorageClass : uint8_t {
  kModel,  // weights and statistics: as long as the model
  kFixed,  // optimizer state, sums of gradients, inputs, labels, outputs: as
           // long as the manager
  kUser,   // inputs of an inference, and its label
  kArena,  // everything else, planned
};

struct PlannedTensor {
  std::string name;  // "conv1 output", "conv1.weight"
  TensorKind kind = TensorKind::kActivation;
  TensorType spec;
  int64_t size_bytes = 0;
  int64_t lower_step = 0;    // that writes it
  int64_t upper_step = 0;    // after the last that reads it
  bool is_retained = false;  // readable when all steps are done
  size_t storage = 0;
};

// Tensors that lie at one place: one, or several that are written where another
// was read.
struct Storage {
  StorageClass storage_class = StorageClass::kArena;
  int64_t size_bytes = 0;
  int64_t lower_step = 0;
  int64_t upper_step = 0;
  int64_t offset_bytes = 0;  // in the memory of its class; none for kUser
  std::vector<size_t> tensors;
};

enum class StepKind : uint8_t {
  kForward,
  kCopyInput,  // reads input 0, writes the output
  kCalculateGradient,
  kCalculateDerivative,
  // Calculates a layer's derivative through the activation before it: reads the
  // activation's output as input 0, unless it is restored as slice 1; writes
  // the derivative of the activation's input.
  kSlicedDerivative,
  // Calculates a layer's derivative a slice of the batch at a time, and adds
  // each to what other readers of its input gave, input derivative 1, if there
  // are such; writes input derivative 0, where either derivative that it reads
  // may lie.
  kSlicedSum,
  kRecompute,           // the output once more
  kSumDerivatives,      // of two readers of one value: inputs 0 and 1
  kSumGradients,        // of two users of one weight: inputs 0 and 1
  kAccumulateGradient,  // of micro-batches: output += input 0
  kClipGradients,       // all of them
  kApplyGradient,
  kCopyStatistics,     // each saved i is statistic i, once an iteration
  kRestoreStatistics,  // back, if the iteration is refused
  kSwapOut,            // input 0 to the file
  kSwapIn,             // the output from the file
};

absl::string_view StepKindName(StepKind kind);

struct TensorUse {
  Operand operand;
  size_t tensor = 0;
  bool read = false;
  bool written = false;
};

struct PlannedStep {
  StepKind kind = StepKind::kForward;
  size_t layer = 0;
  std::vector<TensorUse> uses;
  std::vector<InPlace> in_place;  // that it allows
  int64_t file_offset_bytes = 0;  // of what is swapped
};

struct ExecutionPlan {
  NetworkMode mode = NetworkMode::kInference;
  ResolvedNetwork network;
  const MathBackend* math = nullptr;  // whose workspaces are planned
  int optimizer_states = 0;           // for each weight
  int64_t micro_batches = 1;          // the network is that of one
  // About how many multiplications recomputing takes, and the forward steps.
  double recompute_products = 0;
  double forward_products = 0;
  std::vector<PlannedTensor> tensors;
  std::vector<Storage> storages;
  std::vector<PlannedStep> steps;

  std::vector<size_t> input_tensors;
  std::vector<size_t> label_tensors;   // one, if there is a loss
  std::vector<size_t> output_tensors;  // in training only if they are kept
  size_t loss_tensor = 0;              // if there is a loss

  // The file's size; each of its bytes is written once in a micro-batch and
  // read once.
  int64_t swap_file_bytes = 0;

  int64_t model_bytes = 0;
  int64_t fixed_bytes = 0;
  MemoryPlan arena;
  std::vector<size_t> arena_storages;  // request i is storage arena_storages[i]

  // PlanFingerprint when PlanExecution was done: a plan that was edited since
  // is refused, since its steps may read and write anywhere.
  uint64_t fingerprint = 0;

  int64_t swapped_bytes_per_iteration() const {
    return 2 * swap_file_bytes * micro_batches;
  }
  // Returns the layers that keep statistics of their batch or count its rows
  // (SoftmaxOptions::ignored_label), which with micro-batches is a part of it;
  // none for one part.
  std::vector<std::string> LayersOfPartStatistics() const;
  // Bytes that these steps need at least, wherever their tensors lie, and bytes
  // that this plan takes. Other steps of the same network, with other options,
  // may need less.
  int64_t bound_bytes() const {
    return model_bytes + fixed_bytes + arena.lower_bound.bytes;
  }
  int64_t planned_bytes() const {
    return model_bytes + fixed_bytes + arena.height_bytes;
  }
};

// A hash of what the plan says of steps, tensors and memory; where two plans
// have one, the tensors of one lie where those of the other do. It reads
// nothing through the numbers in the plan, so that these may be wrong.
uint64_t PlanFingerprint(const ExecutionPlan& plan);

// InvalidArgument: the plan is not as PlanExecution made it. Parameters::Create
// and Manager::Create ask.
absl::Status CheckUnedited(const ExecutionPlan& plan);

// The tensors of the certificate: those that lie in the arena at the step of
// the lower bound, one for each storage: the one that is live then.
std::vector<size_t> CertificateTensors(const ExecutionPlan& plan);

// Bytes that are live at a step, by kind; a storage counts for the tensor in it
// that is live. User memory is left out.
std::vector<int64_t> LiveBytesByKind(const ExecutionPlan& plan, int64_t step);

// "conv1: calculate gradient"
std::string StepName(const ExecutionPlan& plan, int64_t step);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_EXECUTION_EXECUTION_TYPES_H_
