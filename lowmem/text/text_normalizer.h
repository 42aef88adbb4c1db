// The changes that a tokenizer makes to a text before it cuts it: "normalizer"
// of tokenizer.json.
//
//   absl::StatusOr<footprint::TextNormalizer> normalizer =
//       footprint::TextNormalizer::Parse(json["normalizer"]);
//   absl::StatusOr<std::string> normal = normalizer->Apply("Über  uns");
//
// The known types are Sequence, NFC, NFD, NFKC, NFKD, Nmt, Lowercase,
// StripAccents, Strip, Replace, Prepend, BertNormalizer and Precompiled; null
// changes nothing.
//
// Movable and thread-safe. Memory: its steps, and the texts of a call. The
// error is Unimplemented if a type is not known; the message names it. The
// error is InvalidArgument if a step lacks a value that it needs, or has a
// pattern or map that is not valid; a missing text counts as empty.

#ifndef FOOTPRINT_LOWMEM_TEXT_TEXT_NORMALIZER_H_
#define FOOTPRINT_LOWMEM_TEXT_TEXT_NORMALIZER_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"

namespace footprint {

class TextNormalizer {
 public:
  static absl::StatusOr<TextNormalizer> Parse(const nlohmann::json& json);

  // Returns the normalised text, or the errors of TextPattern::Cut.
  absl::StatusOr<std::string> Apply(absl::string_view text) const;
  // Returns whether Apply drops the text's first character, such as whitespace
  // or a control character. If so, the rest does not count as the beginning of
  // a text.
  bool DropsBeginning(absl::string_view text) const;

 private:
  using Step = std::function<absl::StatusOr<std::string>(const std::string&)>;

  absl::Status Add(const nlohmann::json& json);
  absl::Status AddMap(const nlohmann::json& json);
  absl::Status AddReplace(const nlohmann::json& json);
  void AddBert(const nlohmann::json& json);

  std::vector<Step> steps_;
};

}  // namespace footprint

// Tested by tokenizer_test.

#endif  // FOOTPRINT_LOWMEM_TEXT_TEXT_NORMALIZER_H_
