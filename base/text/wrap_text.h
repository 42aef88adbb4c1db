// Wraps texts to the width of a terminal, without losing a figure.
//
//   WrapText("REJECT //a:b: peak live is 1,001 B", 20, 4);
//   // "REJECT //a:b: peak\n    live is 1,001 B"
//   ShortenMiddle("a/name/of/many/parts:last", 15);
//   // "a/name/...:last"
//   WrapCommand("bazel run //a:b -- --only=//a:b", 20, 2);
//   // "bazel run //a:b -- \\\n  --only=//a:b"
//
// Width is counted in code points. A width below the indent plus 8 counts as
// the indent plus 8. Pure functions, thread-safe; results copy the text. Memory
// and time: linear in the text, for ShortenMiddle quadratic.

#ifndef FOOTPRINT_BASE_TEXT_WRAP_TEXT_H_
#define FOOTPRINT_BASE_TEXT_WRAP_TEXT_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/optional.h"

namespace footprint {

// Returns how many columns a text in UTF-8 takes, one for each code point. A
// byte that does not begin a code point has no width.
size_t DisplayWidth(absl::string_view text);

// Wraps one line into lines of at most `width`, all but the first indented by
// `indent`, without a newline at the end. Lines are broken at blanks. A word
// that is wider than a line is broken after a character that is neither letter
// nor digit, if possible, and between two digits only if there is no other
// place.
std::string WrapText(absl::string_view text, size_t width, size_t indent);

// Returns the text shortened to at most `width`: "..." replaces a part near the
// middle, between whole words if that costs only a few characters. Returns
// nullopt if a digit would be removed, so that two names that differ in a
// number never look alike, and if the text is longer than a `width` below 7.
absl::optional<std::string> ShortenMiddle(absl::string_view text, size_t width);

// Wraps a command for a POSIX shell into lines that the shell reads as the same
// words. Lines are broken between words, and within a word that is wider than a
// line, with a backslash at each line's end. `first_column` is where the
// command begins on its first line. Quotes may be '...', "..." and $'...'.
std::string WrapCommand(absl::string_view command, size_t width, size_t indent,
                        size_t first_column = 0);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_TEXT_WRAP_TEXT_H_
