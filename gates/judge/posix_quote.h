// Quotes a word for a shell that this program starts itself.
//
//   const std::string command =
//       absl::StrCat("git -C ", PosixQuote(workspace), " status");
//   const int status = std::system(command.c_str());
//
// Every POSIX shell reads the word back, even dash, which does not know the
// $'...' of ShellQuote (update_command.h). Commands that are printed for people
// use ShellQuote instead, since a terminal must show them as they are.
//
// Pure, thread-safe; the result owns its text. A word with a zero byte cannot
// be given to a shell.

#ifndef FOOTPRINT_GATES_JUDGE_POSIX_QUOTE_H_
#define FOOTPRINT_GATES_JUDGE_POSIX_QUOTE_H_

#include <string>

#include "absl/strings/string_view.h"

namespace footprint {

// Returns 'word' between single quotes; each ' within it becomes '\''.
std::string PosixQuote(absl::string_view word);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_JUDGE_POSIX_QUOTE_H_
