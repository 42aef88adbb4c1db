// Escapes names and messages, which may have any bytes, for the languages of
// reports.
//
//   EscapeForXml("BM_Sort<int>");       // "BM_Sort&lt;int&gt;"
//   EscapeForMarkdown("a|b");           // "a\\|b"
//   EscapeForTerminal("\x1b[2J");       // "\\x1b[2J"
//
// The results, except that of EscapeForRegularExpression, are valid UTF-8. They
// have each byte of these as \xNN: control characters other than newline and
// tab, U+FFFE and U+FFFF, characters that change the direction of the text or
// end a line (such as U+202E and U+2028), and bytes that are not UTF-8. Pure
// functions, thread-safe; the result copies the text. Memory and time: linear
// in the text.

#ifndef FOOTPRINT_BASE_TEXT_REPORT_ESCAPE_H_
#define FOOTPRINT_BASE_TEXT_REPORT_ESCAPE_H_

#include <string>

#include "absl/strings/string_view.h"

namespace footprint {

// Returns one line: newlines and tabs become \n and \t. Backslashes stay.
std::string EscapeForTerminal(absl::string_view text);

// Returns a text that a string field of protobuf can hold. Does the same as
// EscapeForTerminal, but newlines and tabs stay.
std::string EscapeForProto(absl::string_view text);

// Escapes for attributes in double quotes and for element text, in XML, HTML
// and SVG.
std::string EscapeForXml(absl::string_view text);

// Escapes for a cell of a table or for a line of text. Newlines become <br>,
// and tabs become blanks.
std::string EscapeForMarkdown(absl::string_view text);

// Returns an expression that matches the text and nothing else, in POSIX's
// extended and in ECMAScript's syntax. Bytes stay unchanged, and so do closing
// brackets and braces, for which POSIX has no escape.
std::string EscapeForRegularExpression(absl::string_view text);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_TEXT_REPORT_ESCAPE_H_
