// The map of characters that a SentencePiece model normalises texts with:
// "precompiled_charsmap" of tokenizer.json's Precompiled.
//
//   absl::StatusOr<footprint::CharacterMap> map =
//       footprint::CharacterMap::Parse(bytes);
//   std::string normal = map->Apply("ＡＢＣ");  // "ABC"
//
// A text is taken a grapheme at a time: the grapheme as a whole if it is short
// and the map has it, else each of its characters. As in Hugging Face's
// tokenizers the map's shortest beginning of a grapheme counts.
//
// Movable; thread-safe. Memory: the map, some 240 KiB of public models.
// InvalidArgument: bytes that are no such map. A map that leads beyond its end
// maps nothing there.
//
// Source of the format: a double array of Darts-clone, then strings that end
// with a zero byte; the normalizer of google/sentencepiece.

#ifndef FOOTPRINT_LOWMEM_TEXT_CHARACTER_MAP_H_
#define FOOTPRINT_LOWMEM_TEXT_CHARACTER_MAP_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"

namespace footprint {

class CharacterMap {
 public:
  static absl::StatusOr<CharacterMap> Parse(absl::string_view bytes);

  std::string Apply(absl::string_view text) const;

 private:
  CharacterMap() = default;
  // Nothing where the map has no beginning of the text.
  absl::optional<absl::string_view> Find(absl::string_view text) const;
  void AddGrapheme(absl::string_view grapheme, std::string* normal) const;

  std::vector<uint32_t> units_;
  std::string strings_;
};

}  // namespace footprint

// Tested by tokenizer_test.

#endif  // FOOTPRINT_LOWMEM_TEXT_CHARACTER_MAP_H_
