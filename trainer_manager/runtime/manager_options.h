// Options of training and inference that do not change the plan.
//
//   footprint::ManagerOptions options;
//   options.optimizer = footprint::StochasticGradientDescent(0.1f);
//
// Plain data, thread-compatible. A manager copies them and shares the
// optimizer, which lives until the last of them ends. Memory: some words and
// the folder's name.

#ifndef FOOTPRINT_TRAINER_MANAGER_RUNTIME_MANAGER_OPTIONS_H_
#define FOOTPRINT_TRAINER_MANAGER_RUNTIME_MANAGER_OPTIONS_H_

#include <cstdint>
#include <limits>
#include <string>

#include "absl/status/status.h"
#include "footprint/trainer_manager/execution/execution_types.h"
#include "footprint/trainer_manager/layers/optimizer.h"

namespace footprint {

struct ManagerOptions {
  OptimizerPointer optimizer;  // in training
  uint64_t seed = 0;           // of dropout
  // Gradients are scaled so that the square root of the sum of all their
  // squares is at most clip_norm (then plan with
  // MemoryOptions::clip_global_norm), and each value is cut to within +-
  // clip_value.
  float clip_norm = std::numeric_limits<float>::infinity();
  float clip_value = std::numeric_limits<float>::infinity();
  // The folder of the file where the plan swaps; it is reserved by Create and
  // has no name.
  std::string swap_folder;
  // Inference keeps the arena for the next one (a burst); else it is freed at
  // the end of each.
  bool retain_arena = false;
  // A switch for debugging. Fills the arena with NaN before each iteration and
  // a tensor's bytes after its last step, and checks that a step reads of each
  // tensor what was written, and writes finite values: what is used outside its
  // lifespan fails in the step that uses it.
  bool poison = false;
  // Inference fails if the caller's memory changes or is unmapped meanwhile,
  // for debugging.
  bool watch_inputs = false;
};

// InvalidArgument: no optimizer, one whose parameters train nothing, or one of
// another number of states than was planned.
absl::Status CheckOptimizer(const Optimizer* optimizer, int planned_states);

// InvalidArgument, for a plan of training: no optimizer, or one of other states
// than planned; a limit for gradients that is not above 0 or was not planned.
absl::Status CheckManagerOptions(const ExecutionPlan& plan,
                                 const ManagerOptions& options);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_RUNTIME_MANAGER_OPTIONS_H_
