// A pattern as tokenizer.json writes it: {"Regex": "\\s+"} or {"String": " "}.
//
//   absl::StatusOr<footprint::TextPattern> pattern =
//       footprint::ParseJsonPattern(json["pattern"]);
//
// Pure, thread-safe. Memory: the pattern's. InvalidArgument: neither, or no
// pattern of PCRE2.

#ifndef FOOTPRINT_LOWMEM_TEXT_JSON_PATTERN_H_
#define FOOTPRINT_LOWMEM_TEXT_JSON_PATTERN_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "footprint/lowmem/text/text_pattern.h"
#include "nlohmann/json.hpp"

namespace footprint {

// Returns the number as the id of a word; nothing if it is no valid id.
absl::optional<int32_t> JsonId(const nlohmann::json& json);

absl::StatusOr<TextPattern> ParseJsonPattern(const nlohmann::json& json);

// Returns the value of a key; null where there is none, or no object.
const nlohmann::json& JsonMember(const nlohmann::json& json,
                                 const std::string& key);

// Read a key of an object; another type of value counts as missing.
std::string JsonTextOr(const nlohmann::json& json, const char* key,
                       const std::string& otherwise);
bool JsonFlagOr(const nlohmann::json& json, const char* key, bool otherwise);

}  // namespace footprint

// Tested by tokenizer_test.

#endif  // FOOTPRINT_LOWMEM_TEXT_JSON_PATTERN_H_
