#include "footprint/lowmem/checkpoints/checkpoint_folder.h"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/safetensors/shard_index.h"

namespace footprint {
namespace {

// Returns whether the name exists. A link into a cache of downloads counts even
// if it leads nowhere, so that the error names it.
bool IsThere(const std::string& path) {
  struct stat status;
  return lstat(path.c_str(), &status) == 0;
}

// Returns the names that end in ".gguf", in order.
std::vector<std::string> FindGgufFiles(absl::string_view directory) {
  std::vector<std::string> names;
  DIR* const folder = opendir(std::string(directory).c_str());
  if (folder == nullptr) return names;
  while (const dirent* const entry = readdir(folder)) {
    if (absl::EndsWith(entry->d_name, ".gguf")) {
      names.emplace_back(entry->d_name);
    }
  }
  closedir(folder);
  std::sort(names.begin(), names.end());
  return names;
}

// Returns advice on a folder without model.safetensors, or an empty text if
// there is none.
std::string Advice(absl::string_view directory, const std::string& path) {
  if (IsThere(path)) return "";
  const std::string pickle = absl::StrCat(directory, "/pytorch_model.bin");
  if (IsThere(pickle) || IsThere(pickle + ".index.json")) {
    return "; it has pytorch_model.bin: save it as safetensors first "
           "(save_pretrained with safe_serialization=True)";
  }
  const std::vector<std::string> models = FindGgufFiles(directory);
  if (!models.empty()) {
    return absl::StrCat("; it has GGUF files, each a model by itself: name ",
                        directory, "/", models[0]);
  }
  return "";
}

}  // namespace

absl::StatusOr<std::unique_ptr<WeightStore>> OpenFolderWeights(
    absl::string_view directory, WeightBackend backend) {
  const std::string path = FindWeightFile(directory);
  absl::StatusOr<std::unique_ptr<WeightStore>> store =
      WeightStore::Open(path, backend);
  if (!absl::IsNotFound(store.status())) return store;
  return absl::NotFoundError(
      absl::StrCat(store.status().message(), Advice(directory, path)));
}

std::string FindWeightFile(absl::string_view path) {
  if (IsModelFile(path)) return std::string(path);
  const std::string whole = absl::StrCat(path, "/model.safetensors");
  const std::string shards = whole + ".index.json";
  const std::string quantised = absl::StrCat(path, "/model.gguf");
  if (IsThere(whole)) return whole;
  if (IsThere(shards)) return shards;
  return IsThere(quantised) ? quantised : whole;
}

std::vector<std::string> ListWeightFiles(absl::string_view path) {
  std::vector<std::string> files = {FindWeightFile(path)};
  if (!absl::EndsWith(files[0], ".json")) return files;
  const absl::StatusOr<std::vector<Shard>> shards = ReadShardIndex(files[0]);
  if (!shards.ok()) return files;
  for (const Shard& shard : *shards) files.push_back(shard.path);
  return files;
}

int64_t ComputeWeightBytes(absl::string_view path) {
  int64_t bytes = 0;
  struct stat status;
  for (const std::string& file : ListWeightFiles(path)) {
    if (stat(file.c_str(), &status) == 0) bytes += status.st_size;
  }
  return bytes;
}

std::string FindUnreadWeightFile(absl::string_view path) {
  const std::string quantised = absl::StrCat(path, "/model.gguf");
  const bool is_read = FindWeightFile(path) == quantised;
  return !is_read && IsThere(quantised) ? quantised : "";
}

bool IsModelFile(absl::string_view path) {
  struct stat status;
  return stat(std::string(path).c_str(), &status) == 0 &&
         S_ISREG(status.st_mode);
}

}  // namespace footprint
