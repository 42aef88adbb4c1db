#include "footprint/lowmem/checkpoints/checkpoint_folder.h"

#include <unistd.h>

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace footprint {
namespace {

bool IsThere(const std::string& path) {
  return access(path.c_str(), F_OK) == 0;
}

// Advice on a folder without model.safetensors; empty where there is none.
std::string Advice(absl::string_view directory, const std::string& path) {
  const std::string index = path + ".index.json";
  if (IsThere(index)) {
    return absl::StrCat(
        "; its weights are in several files: make one of them, "
        "lowmem_pack ",
        index, " ", path);
  }
  const std::string pickle = absl::StrCat(directory, "/pytorch_model.bin");
  if (IsThere(pickle) || IsThere(pickle + ".index.json")) {
    return "; it has pytorch_model.bin: save it as safetensors first "
           "(save_pretrained with safe_serialization=True)";
  }
  return "";
}

}  // namespace

absl::StatusOr<std::unique_ptr<WeightStore>> OpenFolderWeights(
    absl::string_view directory, WeightBackend backend) {
  const std::string path = absl::StrCat(directory, "/model.safetensors");
  absl::StatusOr<std::unique_ptr<WeightStore>> store =
      WeightStore::Open(path, backend);
  if (!absl::IsNotFound(store.status())) return store;
  return absl::NotFoundError(
      absl::StrCat(store.status().message(), Advice(directory, path)));
}

}  // namespace footprint
