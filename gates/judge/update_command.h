// Composes the command lines that verdicts suggest, quoted for a shell.
//
//   UpdateCommand command{"//gates:update"};
//   command.ToAccept("//a:b", "BM_X", true);
//   // bazel run //gates:update -- --allow_increase --reason="..."
//   //     --only=//a:b --benchmark=BM_X
//
// Pure functions, thread-safe; the result owns its text.

#ifndef FOOTPRINT_GATES_JUDGE_UPDATE_COMMAND_H_
#define FOOTPRINT_GATES_JUDGE_UPDATE_COMMAND_H_

#include <string>

#include "absl/strings/string_view.h"

namespace footprint {

// Returns `argument` quoted so that the reader's shell reads it back as one
// word; unchanged if it is not empty and no character is special. If a report
// cannot show it as it is (a newline, a control character, a byte that is not
// UTF-8), uses the form $'...' of bash, zsh, ksh and POSIX since 2024. The
// shell of std::system may be dash, which does not know that form and would run
// commands in the word: use PosixQuote there (posix_quote.h).
std::string ShellQuote(absl::string_view argument);

struct UpdateCommand {
  // The target of the update program.
  std::string target;

  // Returns the command that accepts the present need of the benchmarks that
  // match both globs (selector.h); an empty benchmark matches every one. If
  // `is_increase`, it asks the reader for a reason.
  std::string ToAccept(absl::string_view label, absl::string_view benchmark,
                       bool is_increase) const;
  // Returns the command that adds thresholds for the benchmark of this name.
  std::string ToAdd(absl::string_view label, absl::string_view benchmark) const;
  // Returns the command that writes the exact values of a new environment to
  // `path`.
  std::string ToBless(absl::string_view label, absl::string_view path) const;
};

}  // namespace footprint

#endif  // FOOTPRINT_GATES_JUDGE_UPDATE_COMMAND_H_
