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
// "...lora_B.weight" [outputs, rank], as PEFT has them; layers that are trained
// besides have PyTorch's names and layouts. Files of an adapter that PEFT made
// are read if their rank and alpha are those of the network's
// (ReadAdapterConfig tells them), and they are F32.
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

// The folder must exist. InvalidArgument: the parameters are not the network's.
// Otherwise as SaveParameters.
absl::Status SaveAdapters(const AdaptedNetwork& adapted,
                          const Parameters& parameters,
                          absl::string_view folder);

// InvalidArgument: the configuration is not that of the network's adapters, or
// of a kind that is not supported (DoRA, trained biases, ranks that differ); a
// matrix is missing, has another shape, or belongs to no adapter of the
// network; a value is not finite. Otherwise as LoadParameters. Base weights
// stay.
absl::Status LoadAdapters(absl::string_view folder,
                          const AdaptedNetwork& adapted,
                          Parameters* parameters);

// Loads the weights of a network without adapters, as LoadParameters does; the
// adapters stay as they are. Of `map`, entries of adapters are passed over.
absl::Status LoadBaseParameters(absl::string_view path, const ParameterMap& map,
                                const AdaptedNetwork& adapted,
                                Parameters* parameters);

// What adapter_config.json says of an adapter.
struct AdapterConfig {
  int64_t rank = 8;
  float alpha = 8;
  bool rank_stabilized = false;
  std::vector<std::string> target_modules;  // empty where it is no list
};

// InvalidArgument: no JSON, or a configuration that is not supported.
// Otherwise as ReadWholeFile.
absl::StatusOr<AdapterConfig> ReadAdapterConfig(absl::string_view folder);

// The same for a text; `name` stands in errors.
absl::StatusOr<AdapterConfig> ParseAdapterConfig(absl::string_view text,
                                                 const std::string& name);

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_ADAPTERS_ADAPTER_FILE_H_
