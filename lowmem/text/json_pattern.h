// Parses a pattern of tokenizer.json: {"Regex": "\\s+"} or {"String": " "}.
//
//   absl::StatusOr<footprint::TextPattern> pattern =
//       footprint::ParseJsonPattern(json["pattern"]);
//
// Pure and thread-safe. Memory: the pattern's. The error is InvalidArgument if
// the JSON has neither key, or if PCRE2 does not accept the pattern.

#ifndef FOOTPRINT_LOWMEM_TEXT_JSON_PATTERN_H_
#define FOOTPRINT_LOWMEM_TEXT_JSON_PATTERN_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "footprint/lowmem/text/text_pattern.h"
#include "nlohmann/json.hpp"

namespace footprint {

// Returns the number as a word's id, or nullopt unless it is an integer from 0
// to 2^24 - 1.
absl::optional<int32_t> JsonId(const nlohmann::json& json);

absl::StatusOr<TextPattern> ParseJsonPattern(const nlohmann::json& json);

// Returns the value of a key, which is part of `json`, or null if `json` is not
// an object or has no such key.
const nlohmann::json& JsonMember(const nlohmann::json& json,
                                 const std::string& key);

// These return the value of a key of an object, or `otherwise` if the key is
// missing or its value has another type.
std::string JsonTextOr(const nlohmann::json& json, const char* key,
                       const std::string& otherwise);
bool JsonFlagOr(const nlohmann::json& json, const char* key, bool otherwise);

}  // namespace footprint

// Tested by tokenizer_test.

#endif  // FOOTPRINT_LOWMEM_TEXT_JSON_PATTERN_H_
