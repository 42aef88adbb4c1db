// The command lines that verdicts tell their reader to run, quoted for a shell.
//
//   UpdateCommand command{"//gates:update"};
//   command.ToAccept("//a:b", "BM_X", true);
//   // bazel run //gates:update -- --allow_increase --reason="..."
//   //     --only=//a:b --benchmark=BM_X
//
// Pure functions, thread-safe; the result copies what it quotes. Memory: the
// command's bytes.

#ifndef FOOTPRINT_GATES_JUDGE_UPDATE_COMMAND_H_
#define FOOTPRINT_GATES_JUDGE_UPDATE_COMMAND_H_

#include <string>

#include "absl/strings/string_view.h"

namespace footprint {

// `argument` such that a POSIX shell reads it back as one word: itself where no
// character is special. Where it holds what a report cannot show as it is (a
// newline, a control character, a byte that is no UTF-8), in the form $'...' of
// bash, zsh, ksh and POSIX since 2024.
std::string ShellQuote(absl::string_view argument);

struct UpdateCommand {
  // The target of the update program.
  std::string target;

  // Accepts what the benchmarks that both name need now; they are globs
  // (selector.h), and an empty benchmark stands for every one. A limit that
  // would rise needs a reason, which the reader fills in.
  std::string ToAccept(absl::string_view label, absl::string_view benchmark,
                       bool is_increase) const;
  // Adds thresholds for the benchmark of this name, which has none.
  std::string ToAdd(absl::string_view label, absl::string_view benchmark) const;
  // Writes the exact values of a new environment to `path`.
  std::string ToBless(absl::string_view label, absl::string_view path) const;
};

}  // namespace footprint

#endif  // FOOTPRINT_GATES_JUDGE_UPDATE_COMMAND_H_
