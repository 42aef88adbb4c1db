#include "footprint/lowmem/text/json_pattern.h"

#include "absl/status/status.h"

namespace footprint {

const nlohmann::json& JsonMember(const nlohmann::json& json,
                                 const std::string& key) {
  static const nlohmann::json null;
  if (!json.is_object()) return null;
  const auto found = json.find(key);
  return found == json.end() ? null : *found;
}

std::string JsonTextOr(const nlohmann::json& json, const char* key,
                       const std::string& otherwise) {
  const nlohmann::json& value = JsonMember(json, key);
  return value.is_string() ? value.get<std::string>() : otherwise;
}

bool JsonFlagOr(const nlohmann::json& json, const char* key, bool otherwise) {
  const nlohmann::json& value = JsonMember(json, key);
  return value.is_boolean() ? value.get<bool>() : otherwise;
}

absl::optional<int32_t> JsonId(const nlohmann::json& json) {
  constexpr int64_t kMostIds = 1 << 24;
  if (!json.is_number_integer()) return absl::nullopt;
  const auto id = json.get<int64_t>();
  if (id < 0 || id >= kMostIds) return absl::nullopt;
  return static_cast<int32_t>(id);
}

absl::StatusOr<TextPattern> ParseJsonPattern(const nlohmann::json& json) {
  const std::string literal = JsonTextOr(json, "String", "");
  if (!literal.empty()) return TextPattern::Literal(literal);
  const std::string pattern = JsonTextOr(json, "Regex", "");
  if (!pattern.empty()) return TextPattern::Compile(pattern);
  return absl::InvalidArgumentError(
      "a pattern is neither a \"String\" nor a \"Regex\"");
}

}  // namespace footprint
