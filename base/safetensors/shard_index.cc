#include "footprint/base/safetensors/shard_index.h"

#include <cstdint>
#include <map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/whole_file.h"
#include "nlohmann/json.hpp"

namespace footprint {
namespace {

// More than any index has.
constexpr int64_t kLargestIndexBytes = 64 << 20;

absl::Status Bad(const std::string& path, absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": ", what,
                   ": not the index of a checkpoint in several files, "
                   "which has \"weight_map\": {\"TENSOR\": \"FILE\", ...}"));
}

bool IsPlainName(const std::string& name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find('/') == std::string::npos &&
         name.find('\0') == std::string::npos;
}

}  // namespace

absl::StatusOr<std::vector<Shard>> ReadShardIndex(absl::string_view path) {
  const std::string name(path);
  const absl::StatusOr<std::string> text =
      ReadWholeFile(name, kLargestIndexBytes);
  if (!text.ok()) return text.status();
  const nlohmann::json index =
      nlohmann::json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (!index.is_object()) return Bad(name, "no JSON object");
  const auto map = index.find("weight_map");
  if (map == index.end() || !map->is_object() || map->empty()) {
    return Bad(name, "weight_map names no tensor");
  }
  const std::string folder = name.substr(0, name.rfind('/') + 1);
  std::map<std::string, Shard> shards;
  for (const auto& [tensor, file] : map->items()) {
    if (!file.is_string() || !IsPlainName(file.get<std::string>())) {
      return Bad(name, absl::StrCat("weight_map, \"", tensor,
                                    "\": no name of a file beside the index"));
    }
    Shard& shard = shards[file.get<std::string>()];
    shard.path = absl::StrCat(folder, file.get<std::string>());
    shard.tensors.push_back(tensor);
  }
  std::vector<Shard> in_order;
  for (auto& [file, shard] : shards) in_order.push_back(std::move(shard));
  return in_order;
}

}  // namespace footprint
