// Assigns storages to the tensors of a plan: one each, or one for several
// tensors if each is written in place of one that was read for the last time.
//
//   absl::Status status = footprint::AssignStorages(options, &plan);
//
// Reads steps, tensors and their lifespans. Fills in the storages, with offsets
// for those outside the arena, and the bytes of model and fixed memory. This is
// a step of planning (execution_plan.h). Changes only `plan`; thread-safe.
// Memory: some hundred bytes a tensor.

#ifndef FOOTPRINT_TRAINER_MANAGER_EXECUTION_STORAGE_SHARING_H_
#define FOOTPRINT_TRAINER_MANAGER_EXECUTION_STORAGE_SHARING_H_

#include "absl/status/status.h"
#include "footprint/trainer_manager/execution/execution_types.h"

namespace footprint {

// Returns OutOfRange if the model's tensors, or the fixed ones, need more than
// 2^61 bytes.
absl::Status AssignStorages(const MemoryOptions& options, ExecutionPlan* plan);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_EXECUTION_STORAGE_SHARING_H_
