// Joins words to a text, as "decoder" of tokenizer.json says.
//
//   absl::StatusOr<footprint::WordDecoder> decoder =
//       footprint::WordDecoder::Parse(json["decoder"]);
//   std::string text = decoder->Join({"Hel", "lo"});
//
// The known types are ByteLevel, WordPiece, Metaspace, and a Sequence of
// Replace, ByteFallback, Fuse and Strip (only at the start of the text). If the
// JSON is null, words are joined with spaces.
//
// Thread-safe. Memory: the texts. The error is Unimplemented if a type is not
// known, if Replace has no "String", or if Strip has a "stop" other than 0; the
// message names the type.

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
  std::string prefix_;      // of words that continue another
  bool cleans_up_ = false;  // removes spaces before punctuation
  std::vector<std::pair<std::string, std::string>> replacements_;
  bool has_byte_words_ = false;
  // Text that is removed at the start, at most `most_stripped_` times.
  std::string stripped_;
  int64_t most_stripped_ = 0;
};

}  // namespace footprint

// Tested by tokenizer_test.

#endif  // FOOTPRINT_LOWMEM_TEXT_WORD_DECODER_H_
