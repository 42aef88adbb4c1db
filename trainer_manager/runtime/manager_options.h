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
#include "footprint/trainer_manager/parameters/parameter_map.h"

namespace footprint {

struct ManagerOptions {
  OptimizerPointer optimizer;  // in training
  uint64_t seed = 0;           // of dropout
  // Gradients are scaled so that the square root of the sum of all their
  // squares is at most clip_norm, which needs MemoryOptions::clip_global_norm
  // in the plan. Each value is cut to within +- clip_value.
  float clip_norm = std::numeric_limits<float>::infinity();
  float clip_value = std::numeric_limits<float>::infinity();
  // The folder of the swap file, if the plan swaps. Create reserves the file,
  // which has no name.
  std::string swap_folder;
  // The safetensors file of the frozen weights, if the plan reads them
  // (MemoryOptions::read_frozen_weights), and their names and layouts there;
  // empty if it does not. It must stay as it is while the manager lives. A
  // resumed training needs the same weights in the same layout.
  std::string weights_file;
  ParameterMap weights_map;
  // Inference keeps the arena for the next call, which suits bursts of calls.
  // If false, each call frees it at its end.
  bool retain_arena = false;
  // For debugging: fills the arena with NaN before each iteration, and a
  // tensor's bytes after its last step, and checks that steps read what was
  // written and write finite values. A step that uses a tensor outside its
  // lifespan, or changes one that it does not write, fails with Internal.
  bool poison = false;
  // For debugging: inference fails with FailedPrecondition if the caller's
  // memory changes or is unmapped meanwhile.
  bool watch_inputs = false;
};

// Returns InvalidArgument if there is no optimizer, if its parameters are not
// valid, if its number of states differs from the plan's or is above
// kMostOptimizerStates, or if it claims to be elementwise but gives a small
// weight other values by parts than as a whole. Calls Apply for that weight.
absl::Status CheckOptimizer(const Optimizer* optimizer, int planned_states);

// Returns InvalidArgument if the optimizer is not elementwise, which a plan
// that applies gradients by tiles needs.
absl::Status CheckForTiles(const Optimizer& optimizer);

// For a plan of training, returns InvalidArgument if CheckOptimizer refuses the
// optimizer, if a limit for gradients is not above 0 or was not planned, or if
// the plan applies gradients by tiles and CheckForTiles refuses the optimizer.
// Returns OK for a plan of inference.
absl::Status CheckManagerOptions(const ExecutionPlan& plan,
                                 const ManagerOptions& options);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_RUNTIME_MANAGER_OPTIONS_H_
