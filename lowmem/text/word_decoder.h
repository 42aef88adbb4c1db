// How words become a text again: "decoder" of tokenizer.json.
//
//   absl::StatusOr<footprint::WordDecoder> decoder =
//       footprint::WordDecoder::Parse(json["decoder"]);
//   std::string text = decoder->Join({"Hel", "lo"});
//
// Known are ByteLevel, WordPiece, Metaspace, and Sequence of Replace,
// ByteFallback, Fuse and Strip; with null words are joined by spaces.
//
// Thread-safe. Memory: the texts. Unimplemented: another type; says which.

#ifndef FOOTPRINT_LOWMEM_TEXT_WORD_DECODER_H_
#define FOOTPRINT_LOWMEM_TEXT_WORD_DECODER_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"

namespace footprint {

class WordDecoder {
 public:
  static absl::StatusOr<WordDecoder> Parse(const nlohmann::json& json);

  std::string Join(const std::vector<absl::string_view>& words) const;

 private:
  enum class Kind { kSpaced, kBytes, kWordPieces, kMarked };

  absl::Status Add(const nlohmann::json& json);
  std::string JoinWordPieces(const std::vector<absl::string_view>& words) const;
  std::string JoinMarked(const std::vector<absl::string_view>& words) const;

  Kind kind_ = Kind::kSpaced;
  std::string prefix_;      // of words that go on with another
  bool cleans_up_ = false;  // no space before signs
  std::vector<std::pair<std::string, std::string>> replacements_;
  bool has_byte_words_ = false;
  std::string stripped_;  // at the beginning, at most `most_stripped_` times
  int64_t most_stripped_ = 0;
};

}  // namespace footprint

// Tested by tokenizer_test.

#endif  // FOOTPRINT_LOWMEM_TEXT_WORD_DECODER_H_
