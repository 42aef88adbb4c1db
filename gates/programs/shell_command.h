// Runs git and Bazel with a shell, and tells a failure from an interruption.
//
//   const absl::StatusOr<int> ended =
//       RunShellCommand(absl::StrCat("cd ", PosixQuote(folder), " && ", bazel,
//                                    " build ", PosixQuote(target)));
//   if (!ended.ok()) return ended.status();  // someone wants to stop
//   if (*ended != 0) return absl::FailedPreconditionError("does not build");
//
// The caller must quote every word that comes from outside with PosixQuote. Not
// thread-safe: it waits for the command, and this process ignores SIGINT
// meanwhile, so that only the command gets it.

#ifndef FOOTPRINT_GATES_PROGRAMS_SHELL_COMMAND_H_
#define FOOTPRINT_GATES_PROGRAMS_SHELL_COMMAND_H_

#include <string>

#include "absl/status/statusor.h"

namespace footprint {

// Returns the exit status. Returns kCancelled if the command was interrupted,
// so that its status says nothing about its work: if a signal ended the shell,
// or if the status is 8 (Bazel's after an interruption) or a shell's status for
// SIGINT or SIGTERM. Returns kUnavailable if no process can be started for the
// shell; without a shell the status is 127. Removes the variables that git sets
// for its hooks from the environment, since git would ignore -C because of
// them.
absl::StatusOr<int> RunShellCommand(const std::string& command);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_PROGRAMS_SHELL_COMMAND_H_
