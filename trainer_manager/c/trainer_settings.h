// Settings of a training or an inference as text: the optimizer, the rate's
// schedule, limits of memory and of gradients.
//
//   absl::StatusOr<footprint::TrainerSettings> settings =
//       footprint::ParseTrainerSettings(
//           "optimizer=adamw, learning_rate=0.003, budget=24 MB");
//
//   mode            training (the default) or inference
//   optimizer       sgd, momentum, adam or adamw; a training needs it
//   learning_rate   a training needs it
//   momentum        of momentum: 0.9
//   beta1, beta2, epsilon  of adam and adamw: 0.9, 0.999, 1e-8
//   weight_decay    of adamw: 0.01
//   schedule        constant (the default); linear or cosine (to last_rate,
//                   after iterations); step (times factor, every so many
//                   iterations); exponential (times factor)
//   last_rate, iterations, factor  of the schedule; last_rate is 0 by default
//   warm_up         iterations of a linear warm-up in front of the schedule
//   seed            of the first weights and of dropout: 1
//   budget          the most memory, such as 24 MB
//   micro_batches   parts of a batch: 1
//   threads         among which each step is divided: 1; the results do not
//                   depend on them
//   swap_folder     the folder of a file for tensors beyond the budget; a
//                   comma in its path is written "\,"
//   weights_file    a safetensors file from which each step reads the weights
//                   of frozen layers, which then take no memory of the model
//   weights_layout  of that file: footprint (the default: its own names and
//                   layouts) or pytorch
//   clip_norm, clip_value  limits of gradients; by default there are none
//   atomic_steps    true: a step that fails changes no weight; false
//
// A pure function, thread-safe. Memory: that of the result.

#ifndef FOOTPRINT_TRAINER_MANAGER_C_TRAINER_SETTINGS_H_
#define FOOTPRINT_TRAINER_MANAGER_C_TRAINER_SETTINGS_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/trainer_manager/execution/execution_types.h"
#include "footprint/trainer_manager/layers/layer.h"
#include "footprint/trainer_manager/runtime/manager_options.h"

namespace footprint {

struct TrainerSettings {
  NetworkMode mode = NetworkMode::kTraining;
  int threads = 1;  // from 1 to 64
  MemoryOptions memory;
  ManagerOptions manager;  // without the weights_map, which needs the plan
  bool is_pytorch_file = false;  // ManagerOptions::weights_file
};

// Returns InvalidArgument, with the setting's name, if a setting is unknown,
// malformed or missing, if it belongs to another optimizer, schedule or mode,
// or if nothing can be trained with the optimizer's numbers. Planning and
// Manager::Create check the budget, micro_batches, swap_folder, weights_file
// and the limits of gradients.
absl::StatusOr<TrainerSettings> ParseTrainerSettings(absl::string_view text);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_C_TRAINER_SETTINGS_H_
