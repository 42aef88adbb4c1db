// Runs the steps of a plan one after the other, in the planned memory.
//
//   footprint::StepRunner runner(plan, std::move(table), options,
//                                std::move(optimizers), &buffers);
//   status = runner.EnsureArena();
//   size_t failed = 0;
//   status = runner.Run(0, runner.table().steps().size(), &failed);
//
// Owns the arena, the swap file and the file of frozen weights, and shares the
// plan's layers. Refers to `buffers` and the plan's math backend, which must
// outlive it; keeps nothing else of the plan. A step allocates nothing unless
// it fails. Thread-compatible.

#ifndef FOOTPRINT_TRAINER_MANAGER_RUNTIME_STEP_RUNNER_H_
#define FOOTPRINT_TRAINER_MANAGER_RUNTIME_STEP_RUNNER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "footprint/base/memory/memory_block.h"
#include "footprint/trainer_manager/execution/execution_types.h"
#include "footprint/trainer_manager/layers/layer.h"
#include "footprint/trainer_manager/math/math_backend.h"
#include "footprint/trainer_manager/parameters/parameter_map.h"
#include "footprint/trainer_manager/runtime/batch_buffers.h"
#include "footprint/trainer_manager/runtime/group_optimizers.h"
#include "footprint/trainer_manager/runtime/lifespan_checker.h"
#include "footprint/trainer_manager/runtime/manager_options.h"
#include "footprint/trainer_manager/runtime/step_table.h"
#include "footprint/trainer_manager/runtime/swap_file.h"
#include "footprint/trainer_manager/runtime/weight_reader.h"

namespace footprint {

class StepRunner {
 public:
  using Step = StepTable::Step;
  using Slots = absl::Span<const StepData::Slot>;

  // `optimizers` are those of the plan's weights.
  StepRunner(const ExecutionPlan& plan, StepTable table,
             const ManagerOptions& options, GroupOptimizers optimizers,
             const BatchBuffers* buffers);
  StepRunner(const StepRunner&) = delete;

  // Opens a file in the folder if the plan swaps. Must be called before the
  // first step. Returns InvalidArgument if `folder` is empty. Other errors are
  // those of SwapFile::Create.
  absl::Status OpenSwapFile(const ExecutionPlan& plan,
                            const std::string& folder);

  // Opens the file of frozen weights if the plan reads them. Must be called
  // before the first step. Returns InvalidArgument if `path` is empty, or is
  // not although the plan reads none. Other errors are those of
  // WeightReader::Open.
  absl::Status OpenWeights(const ExecutionPlan& plan, const std::string& path,
                           const ParameterMap& map);
  // Returns WeightReader::fingerprint, or nothing if the plan reads no weights.
  absl::optional<uint64_t> frozen_weights_fingerprint() const {
    if (weights_ == nullptr) return absl::nullopt;
    return weights_->fingerprint();
  }

  const StepTable& table() const { return table_; }
  // Returns the index of the step that calculates the loss, or 0 if there is
  // none.
  size_t loss_step() const { return loss_step_; }

  // Allocates the arena if it is missing. Returns ResourceExhausted if there is
  // no memory.
  absl::Status EnsureArena();
  void ReleaseArena();
  const MemoryBlock& arena() const { return arena_; }

  // Begins an iteration, which has its own random numbers.
  void BeginIteration() {
    ++iteration_;
    applied_end_ = 0;
  }
  // Undoes BeginIteration.
  void CancelIteration() { --iteration_; }
  // Returns the number of iterations that were begun and not cancelled, as the
  // optimizer and the random numbers count them.
  int64_t iteration() const { return iteration_; }
  void set_iteration(int64_t iteration) { iteration_ = iteration; }
  const OptimizerPointer& optimizer() const { return optimizers_.common(); }
  // Errors are those of GroupOptimizers::Replace.
  absl::Status ReplaceOptimizer(OptimizerPointer optimizer) {
    return optimizers_.Replace(std::move(optimizer));
  }
  uint64_t seed() const { return seed_; }
  // Returns whether this iteration has changed the weights of an apply step's
  // layer.
  bool HasApplied(const Step& step) const {
    return (step.kind == StepKind::kApplyGradient ||
            step.kind == StepKind::kApplyGradientTiles) &&
           &step < table_.steps().data() + applied_end_;
  }
  // Returns whether no weight changes before all gradients are known.
  bool IsAtomic() const { return commit_step_ < table_.steps().size(); }
  int64_t micro_batches() const { return micro_batches_; }
  // `weight` is the weight of the micro-batch; the mean over all micro-batches
  // is 1.
  void set_micro_batch(int64_t micro_batch, double weight = 1) {
    micro_batch_ = micro_batch;
    micro_batch_weight_ = static_cast<float>(weight);
  }
  bool IsLastMicroBatch() const { return micro_batch_ + 1 == micro_batches_; }

  // Runs the steps from `begin` to before `end`. `failed` becomes the last step
  // that was begun. On an error, which is one of Manager::TrainStep or Infer,
  // the message names the layer.
  absl::Status Run(size_t begin, size_t end, size_t* failed);
  // Runs one step.
  absl::Status RunStep(size_t index);

  // Restores running statistics after an error in step `failed`, if their
  // copies still exist. Returns whether they are as before the iteration.
  bool RestoreStatistics(size_t failed);

  // Returns the operands of a step, valid until the next call.
  Slots SlotsAt(const Step& step);
  // Returns the error with a prefix, the names of the layer and of the kind of
  // step; OK stays OK.
  absl::Status InLayer(const Step& step, const absl::Status& status) const;

 private:
  void FindSteps(const ExecutionPlan& plan);
  absl::Status PrepareUpdates();
  absl::Status RunKind(const Step& step, Slots slots, const StepData& data);
  absl::Status RunTiles(const Step& step, size_t matrix, Slots slots,
                        const StepData& data);
  absl::Status RunSwap(const Step& step, const StepData& data);
  absl::Status ApplyUpdate(const Step& step, const StepData& data);
  absl::Status ApplyTiles(const Step& step, Slots slots, const StepData& data);
  absl::Status CheckRecomputed(const Step& step, Slots slots);
  absl::Status ExplainGradients();
  absl::Status ExplainStatistics();
  StepData MakeData(const Step& step, Slots slots) const;
  uint64_t ComputeSeed(size_t layer) const;

  const uint64_t seed_;
  const float clip_norm_;
  const float clip_value_;
  GroupOptimizers optimizers_;
  const NetworkMode mode_;
  uint32_t loss_step_ = 0;
  const MathBackend* const math_;
  const BatchBuffers* const buffers_;
  std::vector<LayerPointer> layers_;
  StepTable table_;
  std::unique_ptr<LifespanChecker> lifespan_checker_;  // null unless `poison`
  std::unique_ptr<SwapFile> swapped_;  // null unless the plan swaps
  // Null unless the plan reads weights.
  std::unique_ptr<WeightReader> weights_;
  // Two steps, each the number of steps if there is none: the step that
  // restores statistics; and, in a plan that changes no weight before all
  // gradients are known, the step after which only updates follow.
  uint32_t restore_step_ = 0;
  uint32_t commit_step_ = 0;
  const int64_t arena_size_bytes_;
  int64_t iteration_ = 0;
  size_t applied_end_ = 0;  // apply steps before it have run
  const int64_t micro_batches_;
  int64_t micro_batch_ = 0;  // the current one
  float micro_batch_weight_ = 1;
  MemoryBlock arena_;
};

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_RUNTIME_STEP_RUNNER_H_
