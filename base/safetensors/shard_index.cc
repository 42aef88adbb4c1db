#include "footprint/base/safetensors/shard_index.h"

#include <cstdint>
#include <map>
#include <set>
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

// Returns the JSON, and in `twice` the quoted name that the index or one of its
// objects has twice, if there is one. Of two values JSON's parser keeps the
// last without a word.
nlohmann::json ParseIndex(const std::string& text, std::string* twice) {
  using Event = nlohmann::json::parse_event_t;
  // The names of the index and of the object in it that is read.
  std::set<std::string> names[2];
  const auto note = [&](int depth, Event event, const nlohmann::json& value) {
    if (event == Event::object_start && depth < 2) names[depth].clear();
    if (event != Event::key || depth > 2) return true;
    const auto& name = value.get_ref<const std::string&>();
    if (!names[depth - 1].insert(name).second) {
      *twice = absl::StrCat("\"", name, "\"");
    }
    return true;
  };
  return nlohmann::json::parse(text, note, /*allow_exceptions=*/false);
}

}  // namespace

absl::StatusOr<std::vector<Shard>> ReadShardIndex(absl::string_view path) {
  const std::string name(path);
  const absl::StatusOr<std::string> text =
      ReadWholeFile(name, kLargestIndexBytes);
  if (!text.ok()) return text.status();
  std::string twice;
  const nlohmann::json index = ParseIndex(*text, &twice);
  if (!index.is_object()) return Bad(name, "no JSON object");
  if (!twice.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": ", twice,
                     " occurs twice: the index is damaged or made to mislead, "
                     "download it again"));
  }
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
