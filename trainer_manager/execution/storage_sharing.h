// Assigns storages to the tensors of a graph: one each, or one for several
// tensors if each is written in place of one that was read for the last time.
//
//   const absl::StatusOr<footprint::StorageGraph> storages =
//       footprint::AssignStorages(*std::move(steps), options);
//
// Reads steps, tensors and their lifespans. This is a step of planning
// (execution_plan.h). Pure, thread-safe. Memory: some hundred bytes a tensor.

#ifndef FOOTPRINT_TRAINER_MANAGER_EXECUTION_STORAGE_SHARING_H_
#define FOOTPRINT_TRAINER_MANAGER_EXECUTION_STORAGE_SHARING_H_

#include "absl/status/statusor.h"
#include "footprint/trainer_manager/execution/execution_types.h"

namespace footprint {

// Returns OutOfRange if the model's tensors, or the fixed ones, need more than
// 2^61 bytes.
absl::StatusOr<StorageGraph> AssignStorages(StepGraph steps,
                                            const MemoryOptions& options);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_EXECUTION_STORAGE_SHARING_H_
