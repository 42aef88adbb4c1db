// How a tokenizer cuts a text into pieces, each of which its model takes by
// itself: "pre_tokenizer" of tokenizer.json.
//
//   absl::StatusOr<footprint::PieceSplitter> splitter =
//       footprint::PieceSplitter::Parse(json["pre_tokenizer"]);
//   absl::StatusOr<std::vector<std::string>> pieces =
//       splitter->Split("Hello, world", /*is_first=*/true);
//
// Known are Sequence, Split, ByteLevel, BertPreTokenizer, Digits, Metaspace,
// Punctuation, Whitespace and WhitespaceSplit; with null a text is one piece.
// Bytes stay bytes: ByteLevel's alphabet is undone where the vocabulary is
// read.
//
// Movable; thread-safe. Memory: its steps, and the pieces. Unimplemented:
// another type or behavior; says which. InvalidArgument: as TextPattern.

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

  // `is_first`: the text is the beginning of what is tokenised, not what
  // follows a special word. No piece is empty. ResourceExhausted: as
  // TextPattern.
  absl::StatusOr<std::vector<std::string>> Split(absl::string_view text,
                                                 bool is_first) const;

  // Returns whether the vocabulary is written in ByteLevel's alphabet.
  bool is_byte_level() const { return is_byte_level_; }

 private:
  using Pieces = std::vector<std::string>;
  // Adds the pieces of a piece. The flag says whether it is the first of all.
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
  bool is_in_alphabet_ = false;  // from here on steps see letters of bytes
};

}  // namespace footprint

// Tested by tokenizer_test.

#endif  // FOOTPRINT_LOWMEM_TEXT_PIECE_SPLITTER_H_
