// Storages for the tensors of a plan: one each, or one for several of which
// each is written where another was read last.
//
//   absl::Status status = footprint::AssignStorages(options, &plan);
//
// Takes steps, tensors and their lifespans; fills in the storages, with places
// for what lies outside the arena, and the bytes of model and fixed memory. A
// step of planning (execution_plan.h). Pure and thread-safe. Memory: some
// hundred bytes a tensor.

#ifndef FOOTPRINT_TRAINER_MANAGER_EXECUTION_STORAGE_SHARING_H_
#define FOOTPRINT_TRAINER_MANAGER_EXECUTION_STORAGE_SHARING_H_

#include "absl/status/status.h"
#include "footprint/trainer_manager/execution/execution_types.h"

namespace footprint {

// OutOfRange: more bytes than a plan can count.
absl::Status AssignStorages(const MemoryOptions& options, ExecutionPlan* plan);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_EXECUTION_STORAGE_SHARING_H_
