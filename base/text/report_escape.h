// Names and messages as the report formats need them, whatever is in them.
//
//   EscapeForXml("BM_Sort<int>");       // "BM_Sort&lt;int&gt;"
//   EscapeForMarkdown("a|b");           // "a\|b"
//   QuoteForJson("say \"hi\"");         // "\"say \\\"hi\\\"\""
//   EscapeForTerminal("\x1b[2J");       // "\\x1b[2J"
//
// The result is valid UTF-8: a byte that is none, and a control character that
// the format cannot hold, is shown as \xNN. Pure functions, thread-safe;
// the result copies the text. Memory and time: linear in the text.

#ifndef FOOTPRINT_BASE_TEXT_REPORT_ESCAPE_H_
#define FOOTPRINT_BASE_TEXT_REPORT_ESCAPE_H_

#include <string>

#include "absl/strings/string_view.h"

namespace footprint {

// One line: newlines and tabs are shown as \n and \t.
std::string EscapeForTerminal(absl::string_view text);

// For attributes and for element text.
std::string EscapeForXml(absl::string_view text);

// For one cell of a table, or for a line of text. Newlines become <br>.
std::string EscapeForMarkdown(absl::string_view text);

// With the quotation marks around it.
std::string QuoteForJson(absl::string_view text);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_TEXT_REPORT_ESCAPE_H_
