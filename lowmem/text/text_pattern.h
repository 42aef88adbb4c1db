// A pattern of a tokenizer, which cuts a text where it matches.
//
//   absl::StatusOr<footprint::TextPattern> pattern =
//       footprint::TextPattern::Compile("\\p{N}{1,3}| ?\\p{L}+");
//   absl::StatusOr<std::vector<footprint::TextPart>> parts =
//       pattern->Cut("see 1234");
//
// The pattern has Oniguruma's syntax (see pattern_syntax.h). PCRE2 matches
// characters of UTF-8 by Unicode's classes, from left to right; among the
// matches at one position, the pattern's order decides. The parts cover the
// text without a gap: the matches, and the text between them. An empty match,
// such as one of "(?=[0-9]{3})", gives a part without text, except right after
// another match.
//
// Movable and thread-safe. Memory: the compiled pattern, some KiB, and the
// parts. The error is InvalidArgument if the pattern is not valid; the message
// says at which byte, usually of the pattern as translated for PCRE2. The error
// is ResourceExhausted if a match exceeds PCRE2's limit or there is no memory
// for it.

#ifndef FOOTPRINT_LOWMEM_TEXT_TEXT_PATTERN_H_
#define FOOTPRINT_LOWMEM_TEXT_TEXT_PATTERN_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace footprint {

struct TextPart {
  absl::string_view text;
  bool is_match = false;
};

class TextPattern {
 public:
  static absl::StatusOr<TextPattern> Compile(absl::string_view pattern);
  // Returns a pattern that matches exactly these characters; without any,
  // nothing.
  static TextPattern Literal(absl::string_view text);

  // Cuts a text, which must outlive the parts. It must be UTF-8; this is not
  // checked.
  absl::StatusOr<std::vector<TextPart>> Cut(absl::string_view text) const;

 private:
  struct Compiled;
  explicit TextPattern(std::shared_ptr<const Compiled> compiled)
      : compiled_(std::move(compiled)) {}

  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_TEXT_TEXT_PATTERN_H_
