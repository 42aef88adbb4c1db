// Plans a training or an inference: its steps, the tensors that they read and
// write, and where each tensor lies.
//
//   absl::StatusOr<footprint::ExecutionPlan> plan = footprint::PlanExecution(
//       network, footprint::NetworkMode::kTraining, {}, /*optimizer_states=*/0,
//       footprint::ReferenceMath());
//   // plan->bound_bytes() is what these steps need at least,
//   // CertificateTensors(*plan) is why.
//
// Every tensor is written by one step. It lives from there to the last step
// that reads it: lifespans follow from the steps' uses and are written down
// nowhere else. The savings of an optimisation show as a shorter lifespan, a
// shared storage or a missing step; each optimisation can be switched off, and
// with all off every tensor has its own memory and stays as it was after the
// step.
//
// A pure function, thread-safe. Memory: about a kibibyte a layer; within a
// budget also some eight bytes a layer squared. Time: that of planning, see
// planner.h; within a budget at most as many bounds as layers squared: a second
// for 120 layers, five for 240; where that is not enough, some fifths of a
// second more for a local search (choice_descent.h). That once for each number
// of micro-batches that is tried.

#ifndef FOOTPRINT_TRAINER_MANAGER_EXECUTION_EXECUTION_PLAN_H_
#define FOOTPRINT_TRAINER_MANAGER_EXECUTION_EXECUTION_PLAN_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "footprint/trainer_manager/execution/execution_types.h"
#include "footprint/trainer_manager/math/math_backend.h"
#include "footprint/trainer_manager/networks/network.h"

namespace footprint {

// Errors: those of ResolveNetwork; InvalidArgument if the alignment is not
// valid, if the batch cannot be divided into the micro-batches, or if
// AssignGroups (//trainer_manager/networks:assign_groups) refuses a group;
// ResourceExhausted if the budget is too small: the text has the smallest
// budget that was found to work, and the step that needs it. That budget is for
// the steps that the options allow; the text names those that are off.
// `optimizer_states`: see Optimizer::states_per_weight. `math` must outlive the
// plan and every manager of it; runtime/plan_execution.h gives
// HighwayBackend().
absl::StatusOr<ExecutionPlan> PlanExecution(const Network& network,
                                            NetworkMode mode,
                                            const MemoryOptions& options,
                                            int optimizer_states,
                                            const MathBackend& math);

// Returns how many bytes less a training of the network takes than one without
// its groups. Both are planned without a budget. Errors and arguments: those of
// PlanExecution.
absl::StatusOr<int64_t> BytesSavedByFreezing(const Network& network,
                                             const MemoryOptions& options,
                                             int optimizer_states,
                                             const MathBackend& math);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_EXECUTION_EXECUTION_PLAN_H_
