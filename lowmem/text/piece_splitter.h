// Cuts a text into the pieces that a tokenizer's model encodes one by one, as
// "pre_tokenizer" of tokenizer.json says.
//
//   absl::StatusOr<footprint::PieceSplitter> splitter =
//       footprint::PieceSplitter::Parse(json["pre_tokenizer"]);
//   absl::StatusOr<std::vector<std::string>> pieces =
//       splitter->Split("Hello, world", /*is_first=*/true);
//
// The known types are Sequence, Split, ByteLevel, BertPreTokenizer, Digits,
// Metaspace, Punctuation, Whitespace and WhitespaceSplit; null leaves the text
// whole. Bytes stay bytes: the letters of ByteLevel's alphabet are turned into
// bytes when the vocabulary is read.
//
// Movable and thread-safe. Memory: its steps, and the pieces. The error is
// Unimplemented if a type or a behavior is not known, or for a second ByteLevel
// or a Metaspace after ByteLevel; the message names it. Other errors are those
// of ParseJsonPattern.

#ifndef FOOTPRINT_LOWMEM_TEXT_PIECE_SPLITTER_H_
#define FOOTPRINT_LOWMEM_TEXT_PIECE_SPLITTER_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/lowmem/text/text_pattern.h"
#include "nlohmann/json.hpp"

namespace footprint {

class PieceSplitter {
 public:
  static absl::StatusOr<PieceSplitter> Parse(const nlohmann::json& json);

  // Returns the pieces, none of which is empty. The text must be UTF-8; this is
  // not checked. `is_first` says that the text is the beginning of the
  // tokenised text and does not follow a special word. Errors are those of
  // TextPattern::Cut.
  absl::StatusOr<std::vector<std::string>> Split(absl::string_view text,
                                                 bool is_first) const;

  // Returns whether the vocabulary is written in ByteLevel's alphabet.
  bool is_byte_level() const { return is_byte_level_; }

 private:
  using Pieces = std::vector<std::string>;
  // Cuts a piece and appends its parts. The flag says whether the piece begins
  // the tokenised text.
  using Step = std::function<absl::Status(const std::string&, bool, Pieces*)>;

  absl::Status Add(const nlohmann::json& json);
  absl::Status AddSplit(const nlohmann::json& json);
  absl::Status EnterAlphabet(const std::string& type);
  absl::Status AddByteLevel(const nlohmann::json& json);
  absl::Status AddPattern(const char* pattern, const char* behavior);
  absl::Status AddMetaspace(const nlohmann::json& json);
  absl::Status AddStep(absl::StatusOr<TextPattern> pattern,
                       const std::string& behavior, bool inverts);

  std::vector<Step> steps_;
  bool is_byte_level_ = false;
  // True if later steps see letters of ByteLevel's alphabet.
  bool is_in_alphabet_ = false;
};

}  // namespace footprint

// Tested by tokenizer_test.

#endif  // FOOTPRINT_LOWMEM_TEXT_PIECE_SPLITTER_H_
