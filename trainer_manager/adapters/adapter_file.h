// Saves and loads adapters in the files of PEFT: adapter_model.safetensors and
// adapter_config.json in a folder.
//
//   absl::Status status = footprint::LoadBaseParameters(
//       "base.safetensors", footprint::PyTorchMap(*plan), *adapted,
//       parameters.get());
//   // ... train ...
//   status = footprint::SaveAdapters(*adapted, *parameters, "adapter");
//   status = footprint::LoadAdapters("adapter", *adapted, parameters.get());
//
// Matrices are "base_model.model.MODULE.lora_A.weight" [rank, inputs] and
// "...lora_B.weight" [outputs, rank], as PEFT has them; other trained layers
// have PyTorch's names and layouts after the same prefix. Files that PEFT made
// are read if they are F32, and if their rank, alpha and use_rslora (see
// ReadAdapterConfig) are those of the network.
//
// Each file is replaced as a whole or not at all. Loading checks all that the
// files say before the first value changes. Nothing is kept; thread-compatible.
// Memory: 64 KiB, the file's header, and the largest matrix that is transposed.

#ifndef FOOTPRINT_TRAINER_MANAGER_ADAPTERS_ADAPTER_FILE_H_
#define FOOTPRINT_TRAINER_MANAGER_ADAPTERS_ADAPTER_FILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/trainer_manager/adapters/add_adapters.h"
#include "footprint/trainer_manager/parameters/parameter_map.h"
#include "footprint/trainer_manager/parameters/parameters.h"

namespace footprint {

// Writes both files into `folder`, which must exist, the weights first: if the
// second write fails, the new weights are beside the old configuration. Returns
// InvalidArgument if the parameters are not those of the network, or if the
// folder has an empty name; other errors are those of SaveParameters.
absl::Status SaveAdapters(const AdaptedNetwork& adapted,
                          const Parameters& parameters,
                          absl::string_view folder);

// Reads both files into the adapters' matrices and the other trained layers;
// base weights stay as they are. Returns InvalidArgument if the configuration
// is not that of the network's adapters, or is of a kind that is not supported
// (DoRA, trained biases, ranks that differ, an initialisation that changed the
// base), if a matrix is missing, has
// another shape, or belongs to no adapter of the network, if a value is not
// finite, or if the weights file says that its matrices were trained with
// another rank, alpha or use_rslora than the configuration has. Other errors
// are those of ReadAdapterConfig and LoadParameters.
absl::Status LoadAdapters(absl::string_view folder,
                          const AdaptedNetwork& adapted,
                          Parameters* parameters);

// Loads the weights of a network without adapters, as LoadParameters does; the
// adapters stay as they are. Ignores the entries of `map` for adapters.
absl::Status LoadBaseParameters(absl::string_view path, const ParameterMap& map,
                                const AdaptedNetwork& adapted,
                                Parameters* parameters);

// The fields of adapter_config.json that are used. A field that the file lacks
// has the value below.
struct AdapterConfig {
  int64_t rank = 8;
  float alpha = 8;
  bool rank_stabilized = false;
  std::vector<std::string> target_modules;  // empty if it is not a list
};

// Reads adapter_config.json in `folder`. Returns InvalidArgument if the folder
// has an empty name, if the file is not a JSON object, if a field has another
// type, or if the configuration is not supported; other errors are those of
// ReadWholeFile, with a limit of 1 MiB.
absl::StatusOr<AdapterConfig> ReadAdapterConfig(absl::string_view folder);

// Does the same for a text, which errors call `name`.
absl::StatusOr<AdapterConfig> ParseAdapterConfig(absl::string_view text,
                                                 const std::string& name);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_ADAPTERS_ADAPTER_FILE_H_
