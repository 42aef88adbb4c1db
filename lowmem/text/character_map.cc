#include "footprint/lowmem/text/character_map.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/lowmem/text/unicode_text.h"

namespace footprint {
namespace {

// Longer graphemes are mapped character by character.
constexpr size_t kLongestGrapheme = 5;
// The replacements of public models have at most some 33 bytes.
constexpr size_t kLongestReplacement = 256;

// These four read the fields of a unit of the double array.
bool HasLeaf(uint32_t unit) { return (unit >> 8 & 1) == 1; }
uint32_t Value(uint32_t unit) { return unit & 0x7fffffffu; }
uint32_t Label(uint32_t unit) { return unit & 0x800000ffu; }
uint32_t Offset(uint32_t unit) {
  return (unit >> 10) << ((unit & 1u << 9) >> 6);
}

uint32_t ReadUnit(absl::string_view bytes) {
  uint32_t unit = 0;
  for (int i = 3; i >= 0; --i) {
    unit = unit << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return unit;
}

}  // namespace

absl::StatusOr<CharacterMap> CharacterMap::Parse(absl::string_view bytes) {
  const size_t units_bytes = bytes.size() < 4 ? 0 : ReadUnit(bytes);
  if (units_bytes == 0 || units_bytes % 4 != 0 ||
      units_bytes > bytes.size() - 4) {
    return absl::InvalidArgumentError(
        absl::StrCat("precompiled_charsmap of ", bytes.size(),
                     " bytes holds no map of characters"));
  }
  CharacterMap map;
  for (size_t at = 0; at < units_bytes; at += 4) {
    map.units_.push_back(ReadUnit(bytes.substr(4 + at, 4)));
  }
  map.strings_ = std::string(bytes.substr(4 + units_bytes));
  return map;
}

absl::optional<absl::string_view> CharacterMap::Find(
    absl::string_view text) const {
  size_t node = Offset(units_[0]);
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    node ^= byte;
    if (byte == 0 || node >= units_.size() || Label(units_[node]) != byte) {
      return absl::nullopt;
    }
    const uint32_t unit = units_[node];
    node ^= Offset(unit);
    if (!HasLeaf(unit)) continue;
    if (node >= units_.size()) return absl::nullopt;
    const size_t begin = Value(units_[node]);
    if (begin >= strings_.size()) return absl::nullopt;
    const absl::string_view strings = strings_;
    const absl::string_view found =
        strings.substr(begin, strings.find('\0', begin) - begin);
    // A hostile map could make a text thousands of times as long.
    if (found.size() > kLongestReplacement) return absl::nullopt;
    return found;
  }
  return absl::nullopt;
}

void CharacterMap::AddGrapheme(absl::string_view grapheme,
                               std::string* normal) const {
  if (grapheme.size() <= kLongestGrapheme) {
    const absl::optional<absl::string_view> whole = Find(grapheme);
    if (whole.has_value()) {
      absl::StrAppend(normal, *whole);
      return;
    }
  }
  while (!grapheme.empty()) {
    absl::string_view rest = grapheme;
    TakeCharacter(&rest);
    const absl::string_view character =
        grapheme.substr(0, grapheme.size() - rest.size());
    absl::StrAppend(normal, Find(character).value_or(character));
    grapheme = rest;
  }
}

std::string CharacterMap::Apply(absl::string_view text) const {
  std::string normal;
  while (!text.empty()) AddGrapheme(TakeGrapheme(&text), &normal);
  return normal;
}

}  // namespace footprint
