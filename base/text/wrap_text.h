// Texts no wider than a terminal, without the loss of a figure.
//
//   WrapText("REJECT //a:b: peak live is 1,001 B", 20, 4);
//   // "REJECT //a:b: peak\n    live is 1,001 B"
//   ShortenMiddle("a/name/of/many/parts:last", 15);
//   // "a/name/...:last"
//   WrapCommand("bazel run //a:b -- --only=//a:b", 20, 2);
//   // "bazel run //a:b -- \\\n  --only=//a:b"
//
// Width is counted in code points. Pure functions, thread-safe; results copy
// the text. Memory and time: linear in the text, of ShortenMiddle quadratic.

#ifndef FOOTPRINT_BASE_TEXT_WRAP_TEXT_H_
#define FOOTPRINT_BASE_TEXT_WRAP_TEXT_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/optional.h"

namespace footprint {

// Returns how many columns a text in UTF-8 takes; a byte that begins no code
// point of it has no width.
size_t DisplayWidth(absl::string_view text);

// One line in, lines of at most `width` out, all but the first of them indented
// by `indent`; no newline at the end. Lines are broken at blanks, and a word
// that is wider than a line after a character that is neither letter nor digit,
// if it has one there, and between two digits only where it has nothing else.
std::string WrapText(absl::string_view text, size_t width, size_t indent);

// Returns the text at most `width` wide: "..." stands in place of a stretch
// near the middle, between whole words where that costs a few characters only.
// Nullopt if a digit would have to go, so that two names that differ in a
// number never look alike.
absl::optional<std::string> ShortenMiddle(absl::string_view text, size_t width);

// A command for a POSIX shell in lines that the shell reads back as the same
// words: broken between words, and in a word that is wider than a line, with a
// backslash at each line's end. `first_column` is where the command begins on
// its first line. Quotes are '...', "..." and $'...'.
std::string WrapCommand(absl::string_view command, size_t width, size_t indent,
                        size_t first_column = 0);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_TEXT_WRAP_TEXT_H_
