// Maps a model's parameters to a weight file of another program: their names
// and layouts there.
//
//   footprint::ParameterMap map = footprint::PyTorchMap(*plan);
//   map.tensors["qkv.weight"].name = "attention.in_proj_weight";
//   absl::Status status =
//       footprint::LoadParameters("model.safetensors", map, parameters.get());
//
// Plain data, thread-compatible. Memory: some hundred bytes a parameter.

#ifndef FOOTPRINT_TRAINER_MANAGER_PARAMETERS_PARAMETER_MAP_H_
#define FOOTPRINT_TRAINER_MANAGER_PARAMETERS_PARAMETER_MAP_H_

#include <map>
#include <string>
#include <vector>

#include "absl/types/optional.h"
#include "footprint/trainer_manager/execution/execution_types.h"
#include "footprint/trainer_manager/networks/network.h"

namespace footprint {

struct FileTensor {
  std::string name;
  // A matrix of [rows, columns] in the model is [columns, rows] in the file.
  bool transposed = false;
};

struct ParameterMap {
  // Tensors of the file by the model's names. A parameter without an entry has
  // the model's name and layout.
  std::map<std::string, FileTensor> tensors;
  // If set, only parameters whose names match this pattern, such as
  // "backbone.*", are loaded (//trainer_manager/networks:parameter_group). The
  // others stay as they are, and the file may hold more tensors.
  absl::optional<std::string> only;
  // Name endings of tensors that the file may hold in addition to the model's.
  std::vector<std::string> ignored_endings;
};

// Returns the map for the state dict of PyTorch modules that are named like the
// plan's layers. The weight of a fully connected layer, with LoRA or without,
// is transposed. The scale and shift of a batch, layer or RMS normalization are
// weight and bias, its mean and variance are running_mean and running_var, and
// num_batches_tracked is ignored. All other names and layouts are the same in
// the map.
ParameterMap PyTorchMap(const ExecutionPlan& plan);
ParameterMap PyTorchMap(const ResolvedNetwork& network);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_PARAMETERS_PARAMETER_MAP_H_
