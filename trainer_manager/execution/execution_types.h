// An execution plan and its stages: steps with their tensors, the storages of
// the tensors, the proof of a lower bound, and the offsets.
//
//   for (const size_t t : plan->certificate.tensors) {
//     std::cout << plan->tensors[t].name << " " << plan->tensors[t].size_bytes;
//   }
//
// Each stage is a type that contains the stage before it. A function makes it
// complete, and nothing changes it later. execution_plan.h makes the plan. Pure
// data, thread-compatible. Copies share the network, which keeps its layers
// alive; the math backend must outlive them. Memory: about a kibibyte a layer.

#ifndef FOOTPRINT_TRAINER_MANAGER_EXECUTION_EXECUTION_TYPES_H_
#define FOOTPRINT_TRAINER_MANAGER_EXECUTION_EXECUTION_TYPES_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "footprint/trainer_manager/layers/layer.h"
#include "footprint/trainer_manager/layers/tensor_type.h"
#include "footprint/trainer_manager/networks/network.h"

namespace footprint {

struct MemoryOptions {
  // Each layer's gradients are applied before the next layer's are calculated.
  // If false, all are applied at the end of the iteration.
  bool share_gradients = true;
  // A layer reads its input where the previous layer wrote it. If false, it
  // gets a copy.
  bool share_edges = true;
  // Activations and what layers save release their memory after their last
  // reader, above all to derivatives.
  bool reuse_activations = true;
  // Derivatives release their memory after their last reader.
  bool reuse_derivatives = true;
  // A step writes in place if nothing reads the overwritten tensor later.
  bool in_place = true;
  // A workspace is allocated for its step only.
  bool reuse_workspaces = true;
  // If the certificate names a derivative that goes through an activation next,
  // it is calculated one slice of the batch at a time, passed through the
  // activation, and written over the activation's output. Needs all options
  // above but the first.
  bool slice_derivatives = true;
  // The output of a cheap layer (normalization, elementwise) is not kept for
  // the backward steps if its input is kept anyway; it is recomputed. Needs
  // share_edges.
  bool recompute_outputs = true;
  // The activation before a max pooling is not kept: wherever its derivative is
  // not zero, its value is the pooled output. Its derivative is calculated by
  // slices. Needs share_edges.
  bool restore_pooled = true;
  // Max pooling saves positions in 1, 2 or 4 bits where that is enough. If
  // false, each position takes a byte.
  bool pack_winners = true;

  // If the budget is not met otherwise, a fully connected layer's gradient may
  // be calculated some rows of its matrix at a time, each applied before the
  // next is calculated. This is tried before anything is recomputed. Needs an
  // optimizer that treats each element alone (Optimizer::is_elementwise). Has
  // no effect where updates wait for each other: without share_gradients, with
  // micro-batches, clip_global_norm or atomic_steps.
  bool tile_gradients = true;

  // The number of parts of a batch in training, which are calculated one after
  // the other. The sums of their gradients take as much memory as the weights
  // until the last part. Changes the order of sums, and the batch that
  // normalization sees. Must divide the batch.
  int64_t micro_batches = 1;
  // In training, gradients wait for all others, as ManagerOptions::clip_norm
  // requires.
  bool clip_global_norm = false;
  // In training, a step changes no weight before all gradients and the new
  // weights are known to be finite. A refused step leaves the model as it was,
  // whatever the reason (except with an optimizer of the user's own without
  // StaysFinite). Gradients then wait for each other: this costs at most their
  // bytes, as many as the weights take. Results keep their bits, and a step
  // takes at most a tenth longer, since gradients are read from further away
  // (docs/results/trainer_manager.md). With micro-batches, with
  // clip_global_norm or without share_gradients steps are always atomic, at no
  // extra cost.
  bool atomic_steps = false;
  // The largest planned_bytes(); if it cannot be met, PlanExecution fails. In
  // training, beyond what is nearly free, outputs are dropped and recomputed
  // segment by segment, at most one more forward pass in all, until the budget
  // is met. Smaller budgets may take several more passes.
  int64_t budget_bytes = std::numeric_limits<int64_t>::max();
  // If that does not meet the budget, the search may raise micro_batches to any
  // number that divides the batch. A layer that keeps statistics of its batch
  // then sees only a part, so the result differs:
  // ExecutionPlan::LayersOfPartStatistics names such layers.
  bool choose_micro_batches = false;
  // If neither meets the budget, forward steps may write outputs to a file
  // (ManagerOptions::swap_folder) that backward steps read back. With
  // read_frozen_weights, an output is written rather than recomputed if the
  // recomputation would read more bytes of weights. Needs share_edges.
  bool swap_to_file = false;
  // Weights that no step changes are read from their file
  // (ManagerOptions::weights_file) before each step that uses them, and lie in
  // the arena for that step only. If budget_bytes leaves room, some stay from
  // the forward to the backward step. Of an embedding's table only the picked
  // rows are read. These are the weights of frozen layers and the base of
  // adapters. They are no parameters (Parameters). If the budget is too small
  // for the matrix of a fully connected layer, or of one with adapters, some
  // columns of it are read at a time: 256 or a multiple of that, so a matrix of
  // fewer columns is read whole. Results keep their bits; a step also takes the
  // time of reading ExecutionPlan::weight_bytes_read_per_iteration().
  bool read_frozen_weights = false;
  // In training, the prediction that the loss reads stays readable after the
  // iteration.
  bool keep_outputs = false;
  // Inference keeps the loss; the caller lends the label with the inputs
  // (Manager::Evaluate).
  bool keep_loss = false;
  // The alignment of every tensor: a power of two, from 4 to 64.
  int64_t alignment_bytes = 16;

  // Returns options with all optimisations off and keep_outputs set: the debug
  // mode.
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
  kStatisticCopy,  // from before the iteration, to undo a refused one
  kActivation,
  kSaved,
  kGradient,
  kDerivative,
  kWorkspace,
  kReadWeight,  // from its file, for one step or a few
};
constexpr int kTensorKinds = 14;

// Returns a name such as "optimizer state".
absl::string_view TensorKindName(TensorKind kind);

// The owner of the memory that a tensor lies in.
enum class StorageClass : uint8_t {
  kModel,  // weights and statistics: as long as the model
  kFixed,  // optimizer state, sums of gradients, inputs, labels, outputs and,
           // with micro-batches, copies of statistics: as long as the manager
  kUser,   // inputs of an inference, and its label
  kArena,  // everything else, planned
};

struct PlannedTensor {
  std::string name;  // "conv1 output", "conv1.weight"
  TensorKind kind = TensorKind::kActivation;
  TensorType spec;
  int64_t size_bytes = 0;
  int64_t lower_step = 0;    // the step that writes it; 0 if it is there before
  int64_t upper_step = 0;    // after the last step that uses it
  bool is_retained = false;  // readable when all steps are done
};

// The memory of one tensor, or of several if each later one is written in place
// of an earlier one.
struct Storage {
  StorageClass storage_class = StorageClass::kArena;
  int64_t size_bytes = 0;
  int64_t lower_step = 0;
  int64_t upper_step = 0;
  std::vector<size_t> tensors;
};

enum class StepKind : uint8_t {
  kForward,
  kCopyInput,  // reads input 0, writes the output
  kCalculateGradient,
  kCalculateDerivative,
  // Calculates a layer's derivative through the activation before it. Reads the
  // activation's output as input 0, unless that is restored as slice 1; writes
  // the derivative of the activation's input.
  kSlicedDerivative,
  // Calculates a layer's derivative one slice of the batch at a time, and adds
  // each slice to the derivative from other readers of its input, input
  // derivative 1, if there are any. Writes input derivative 0, which may take
  // the place of either derivative that it reads.
  kSlicedSum,
  kRecompute,           // calculates the output again
  kSumDerivatives,      // of two readers of one value: inputs 0 and 1
  kSumGradients,        // of two users of one weight: inputs 0 and 1
  kAccumulateGradient,  // of micro-batches: output += input 0
  kClipGradients,       // all of them
  kApplyGradient,
  // Calculates some rows of the gradient of a layer's matrix and applies them,
  // then the next rows (MemoryOptions::tile_gradients).
  kApplyGradientTiles,
  kCopyStatistics,     // saved i is statistic i, once an iteration
  kRestoreStatistics,  // the reverse, if the iteration is refused
  kSwapOut,            // input 0 to the file
  kSwapIn,             // the output from the file
  kReadWeights,        // weights and statistics of a layer from their file
  // Runs in place of kForward and kRecompute for a layer that picks rows of a
  // table in the file: reads their numbers, input 0, and writes the output.
  kReadRows,
};

// Returns a name such as "calculate gradient".
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
  std::vector<InPlace> in_place;  // that the step allows
  int64_t file_offset_bytes = 0;  // of the swapped tensor
};

// The steps of a training or an inference, and the tensors that they read and
// write. BuildSteps (execution_steps.h) makes it.
struct StepGraph {
  NetworkMode mode = NetworkMode::kInference;
  std::shared_ptr<const ResolvedNetwork> network;
  const MathBackend* math = nullptr;  // plans its workspaces
  int optimizer_states = 0;           // for each weight
  int64_t micro_batches = 1;          // the network is one of these parts
  std::vector<PlannedTensor> tensors;
  std::vector<PlannedStep> steps;

  std::vector<size_t> input_tensors;
  std::vector<size_t> label_tensors;   // one, if there is a loss
  std::vector<size_t> output_tensors;  // in training only with keep_outputs
  size_t loss_tensor = 0;              // if there is a loss

  // The size of the swap file. Each of its bytes, but those that align tensors
  // to 4 KiB, is written once and read once in each micro-batch.
  int64_t swap_file_bytes = 0;

  int64_t swapped_bytes_per_iteration() const {
    return 2 * swap_file_bytes * micro_batches;
  }
  // Returns how many bytes of frozen weights an iteration reads from their file
  // (MemoryOptions::read_frozen_weights).
  int64_t weight_bytes_read_per_iteration() const;
  // Returns the names of the layers whose result depends on how the batch is
  // divided (ResolvedLayer::depends_on_batch), such as layers that keep
  // statistics of it. With micro-batches they see only a part of the batch. The
  // list is empty for a single part.
  std::vector<std::string> LayersOfPartStatistics() const;
  // These return roughly the multiplications of the forward steps, and those
  // that recomputation takes.
  double forward_products() const;
  double recompute_products() const;
};

// A step graph with the storage of each tensor. AssignStorages
// (storage_sharing.h) makes it.
struct StorageGraph : StepGraph {
  std::vector<size_t> storage_of;  // of each tensor
  std::vector<Storage> storages;
  int64_t model_bytes = 0;
  int64_t fixed_bytes = 0;

  const Storage& StorageOfTensor(size_t tensor) const {
    return storages[storage_of[tensor]];
  }
};

// The reason why no placement needs fewer bytes in the arena: a step, and the
// tensors that are live at it.
struct Certificate {
  int64_t bytes = 0;
  int64_t step = 0;
  std::vector<size_t> tensors;  // one for each storage that is live
  // The layers that wrote or recomputed the activations among the tensors.
  std::vector<size_t> layers;
};

// A storage graph with a lower bound of its arena. PlanBuilder (bounded_plan.h)
// makes it.
struct BoundedGraph : StorageGraph {
  Certificate certificate;

  // Returns the least bytes that these steps need for any placement. Other
  // steps of the same network, with other options, may need less.
  int64_t bound_bytes() const {
    return model_bytes + fixed_bytes + certificate.bytes;
  }
};

// A bounded graph with the offset of each storage. PlanExecution
// (execution_plan.h) makes it.
struct ExecutionPlan : BoundedGraph {
  // The offset of each storage in the memory of its class; 0 for kUser.
  std::vector<int64_t> offsets_bytes;
  int64_t arena_bytes = 0;

  // The PlanFingerprint when the plan was made. A plan that was edited later is
  // refused, since its steps could read and write anywhere.
  uint64_t fingerprint = 0;

  int64_t OffsetOfTensor(size_t tensor) const {
    return offsets_bytes[storage_of[tensor]];
  }
  int64_t planned_bytes() const {
    return model_bytes + fixed_bytes + arena_bytes;
  }
};

// Returns a hash of the plan's steps, tensors and memory. Two plans with the
// same hash place their tensors equally. It leaves out the math backend, the
// layers' hyperparameters and the certificate. It follows no index in the plan,
// so it accepts a plan whose indices are wrong.
uint64_t PlanFingerprint(const ExecutionPlan& plan);

// Returns InvalidArgument if PlanFingerprint is no longer what it was when
// PlanExecution made the plan. Parameters::Create and Manager::Create call
// this.
absl::Status CheckUnedited(const ExecutionPlan& plan);

// Returns the weight or statistic that is this operand of the layer's steps.
const WeightSpec& FindWeight(const ResolvedNetwork& network, size_t layer,
                             const Operand& operand);

// Returns how many columns of the layer's matrix
// (LayerSignature::multiplies_by_matrix) are in memory at a time while the step
// runs, or 0 if the step reads no such matrix or has all of it. The step before
// it, which reads the matrix from its file, reads the first of these tiles.
int64_t TileColumns(const StepGraph& graph, const PlannedStep& step);

// Returns the tensor that a storage holds at a step: the last one written, or
// among several with the same bytes one that is still read.
size_t TensorAt(const StepGraph& graph, const Storage& storage, int64_t step);

// Returns the live bytes at a step, with a figure for each TensorKind in its
// order. A storage counts for its tensor that is live. Memory of the user does
// not count.
std::vector<int64_t> LiveBytesByKind(const StorageGraph& graph, int64_t step);

// Returns a name such as "conv1: calculate gradient"; the step must exist.
std::string StepName(const StepGraph& graph, int64_t step);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_EXECUTION_EXECUTION_TYPES_H_
