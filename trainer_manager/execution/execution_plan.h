// Plans a training or an inference: its steps, the tensors that they read and
// write, and the offset of each tensor.
//
//   absl::StatusOr<footprint::ExecutionPlan> plan = footprint::PlanExecution(
//       network, footprint::NetworkMode::kTraining, {}, /*optimizer_states=*/0,
//       footprint::ReferenceMath());
//   // plan->bound_bytes() is the least that these steps need, and
//   // plan->certificate says why.
//
// Every tensor is written by one step. It lives from there to the last step
// that reads it: lifespans follow from the steps' uses and are stored nowhere
// else. An optimisation saves memory by a shorter lifespan, a shared storage or
// a missing step. Each optimisation can be switched off. With all off, every
// tensor has its own memory and keeps its value after the step.
//
// A pure function, thread-safe. Memory: about a kibibyte a layer; within a
// budget also about eight bytes times the square of the layers. Time: that of
// planning, see planner.h. Within a budget also at most as many bounds as the
// square of the layers: a second for 120 layers, five for 240. If that is not
// enough, a local search (choice_descent.h) takes some fifths of a second more.
// All of it is repeated for each number of micro-batches that is tried.

#ifndef FOOTPRINT_TRAINER_MANAGER_EXECUTION_EXECUTION_PLAN_H_
#define FOOTPRINT_TRAINER_MANAGER_EXECUTION_EXECUTION_PLAN_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "footprint/trainer_manager/execution/execution_types.h"
#include "footprint/trainer_manager/math/math_backend.h"
#include "footprint/trainer_manager/networks/network.h"

namespace footprint {

// Returns the plan. Errors: those of ResolveNetwork; InvalidArgument if the
// alignment or the number of states is not valid, if the batch cannot be
// divided into the micro-batches, if an inference has several of them, if
// AssignGroups (//trainer_manager/networks:assign_groups) refuses a group, or
// if no derivative reaches a layer with weights; OutOfRange if the bytes of all
// tensors do not fit 64 bits; ResourceExhausted if the budget is too small.
// That message has the smallest budget that was found to work with these
// options, the step that needs it, and what may need less: a smaller batch, or
// options that are off. `optimizer_states`: see Optimizer::states_per_weight.
// `math` must outlive the plan and every manager of it;
// runtime/plan_execution.h gives HighwayBackend().
absl::StatusOr<ExecutionPlan> PlanExecution(const Network& network,
                                            NetworkMode mode,
                                            const MemoryOptions& options,
                                            int optimizer_states,
                                            const MathBackend& math);

// Plans an inference of a network that is being trained, which runs in place of
// the training's arena. If frozen weights stay in their file, the inference is
// planned for an arena that is no larger or, if that is impossible, for the
// least that the search finds. If these weights are in memory, it is planned
// without a budget. Of the options, the alignment, read_frozen_weights and
// keep_loss are used. Errors and arguments: those of PlanExecution.
absl::StatusOr<ExecutionPlan> PlanInferenceBeside(const ExecutionPlan& training,
                                                  const Network& network,
                                                  const MemoryOptions& options,
                                                  const MathBackend& math);

// Does the same for an evaluation by a training's loss, which reads a data set
// and may choose its batch. If the training is in micro-batches, and an
// inference of the whole batch needs more than its arena for steps and outputs,
// the plan has the batch of one of these parts. A loss that ignores a label
// keeps the whole batch, since a part may have no other label.
absl::StatusOr<ExecutionPlan> PlanEvaluationBeside(
    const ExecutionPlan& training, const Network& network,
    const MemoryOptions& options, const MathBackend& math);

// Returns how many bytes less a training of the network needs because of its
// groups. Both trainings are planned without a budget. Errors and arguments:
// those of PlanExecution.
absl::StatusOr<int64_t> BytesSavedByFreezing(const Network& network,
                                             const MemoryOptions& options,
                                             int optimizer_states,
                                             const MathBackend& math);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_EXECUTION_EXECUTION_PLAN_H_
