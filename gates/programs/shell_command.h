// Runs git and Bazel by a shell, and tells a failure from an interruption.
//
//   const absl::StatusOr<int> ended =
//       RunShellCommand(absl::StrCat("cd ", PosixQuote(folder), " && ", bazel,
//                                    " build ", PosixQuote(target)));
//   if (!ended.ok()) return ended.status();  // someone wants to stop
//   if (*ended != 0) return absl::FailedPreconditionError("does not build");
//
// Every word that comes from outside is quoted by PosixQuote. Not thread-safe:
// waits for the command, and this process ignores SIGINT meanwhile, so the
// command alone has it.

#ifndef FOOTPRINT_GATES_PROGRAMS_SHELL_COMMAND_H_
#define FOOTPRINT_GATES_PROGRAMS_SHELL_COMMAND_H_

#include <string>

#include "absl/status/statusor.h"

namespace footprint {

// Returns the exit status. kCancelled: the command was interrupted, so its end
// says nothing of what it did: a signal ended the shell, or the status is 8
// (Bazel's for an interruption), or a shell's for SIGINT or SIGTERM.
// kUnavailable: there is no shell. The variables that git sets for its hooks
// are removed, since git would ignore -C.
absl::StatusOr<int> RunShellCommand(const std::string& command);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_PROGRAMS_SHELL_COMMAND_H_
