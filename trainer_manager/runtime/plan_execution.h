// Plans a training or an inference for the kernels of this machine.
//
//   absl::StatusOr<footprint::ExecutionPlan> plan = footprint::PlanExecution(
//       network, footprint::NetworkMode::kTraining, {},
//       optimizer->states_per_weight());
//
// This is PlanExecution of execution_plan.h with HighwayBackend(); see that
// header for errors, ownership, thread-safety, memory and time. A program that
// includes only execution_plan.h links no kernels.

#ifndef FOOTPRINT_TRAINER_MANAGER_RUNTIME_PLAN_EXECUTION_H_
#define FOOTPRINT_TRAINER_MANAGER_RUNTIME_PLAN_EXECUTION_H_

#include "absl/status/statusor.h"
#include "footprint/trainer_manager/execution/execution_plan.h"
#include "footprint/trainer_manager/math/highway_backend.h"
#include "footprint/trainer_manager/networks/network.h"

namespace footprint {

inline absl::StatusOr<ExecutionPlan> PlanExecution(const Network& network,
                                                   NetworkMode mode,
                                                   const MemoryOptions& options,
                                                   int optimizer_states = 0) {
  return PlanExecution(network, mode, options, optimizer_states,
                       HighwayBackend());
}

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_RUNTIME_PLAN_EXECUTION_H_
