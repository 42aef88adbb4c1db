// The map of characters with which a SentencePiece model normalises texts:
// "precompiled_charsmap" of the Precompiled normalizer in tokenizer.json.
//
//   absl::StatusOr<footprint::CharacterMap> map =
//       footprint::CharacterMap::Parse(bytes);
//   std::string normal = map->Apply("ＡＢＣ");  // "ABC"
//
// The map is applied to one grapheme at a time: to the whole grapheme if it is
// short and the map has it, else to each of its characters. As in Hugging
// Face's tokenizers, the shortest prefix of a grapheme that the map has
// decides.
//
// Movable and thread-safe. Memory: the map, about 240 KiB in public models. The
// error is InvalidArgument if the bytes are not such a map. An offset beyond
// the map's end, or a replacement of more than 256 bytes, maps nothing.
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
  // Returns the replacement of the text's shortest prefix in the map, or
  // nullopt if the map has no prefix of it.
  absl::optional<absl::string_view> Find(absl::string_view text) const;
  void AddGrapheme(absl::string_view grapheme, std::string* normal) const;

  std::vector<uint32_t> units_;
  std::string strings_;
};

}  // namespace footprint

// Tested by tokenizer_test.

#endif  // FOOTPRINT_LOWMEM_TEXT_CHARACTER_MAP_H_
