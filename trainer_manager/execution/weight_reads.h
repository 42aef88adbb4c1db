// Computes how many bytes of frozen weights an iteration must read from their
// file (MemoryOptions::read_frozen_weights).
//
//   const int64_t least = footprint::LeastWeightBytesRead(plan);
//   // least <= plan.weight_bytes_read_per_iteration()
//
// A pure function, thread-safe. Memory: linear in the steps. Time: the product
// of the steps and the weights that they read.

#ifndef FOOTPRINT_TRAINER_MANAGER_EXECUTION_WEIGHT_READS_H_
#define FOOTPRINT_TRAINER_MANAGER_EXECUTION_WEIGHT_READS_H_

#include <cstdint>

#include "footprint/trainer_manager/execution/execution_types.h"

namespace footprint {

// Returns a lower bound on the bytes of weights that the plan's steps must read
// in each of many iterations, whatever stays in the arena from one step to
// another. Picked rows (StepKind::kReadRows) do not count.
//
// Proof: the forward pass needs its weights once, and so does the backward
// pass. A weight is read again unless it stays in the arena from its last use
// in one pass to its first use in the next. While a step runs, the arena holds
// what the step reads and writes. So of the weights that stay, those that are
// not read later in this pass, or were not used earlier in the next, fit beside
// the step's other tensors.
int64_t LeastWeightBytesRead(const ExecutionPlan& plan);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_EXECUTION_WEIGHT_READS_H_
