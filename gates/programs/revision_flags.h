// The flags of programs that measure other revisions: --renamed= and
// --worktree=.
//
//   absl::StatusOr<std::string> worktree = FindWorktree(flags, workspace);
//   if (!worktree.ok()) return worktree.status();
//
// Thread-safe, if no thread changes the environment. The caller owns the texts.

#ifndef FOOTPRINT_GATES_PROGRAMS_REVISION_FLAGS_H_
#define FOOTPRINT_GATES_PROGRAMS_REVISION_FLAGS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "footprint/gates/commands/command_flags.h"

namespace footprint {

// Returns the old and the new name of each --renamed=OLD=NEW. Returns
// kInvalidArgument if a flag has another form.
absl::StatusOr<std::vector<std::pair<std::string, std::string>>> ReadRenamed(
    const CommandFlags& flags);

// Returns the absolute path of --worktree=, or without the flag the workspace's
// default (base_profiles.h). Returns kInvalidArgument if the flag names no
// folder, or if the default needs a home folder and there is none.
absl::StatusOr<std::string> FindWorktree(const CommandFlags& flags,
                                         const std::string& workspace);

}  // namespace footprint

// Tested by compare_main_test and culprit_main_test.

#endif  // FOOTPRINT_GATES_PROGRAMS_REVISION_FLAGS_H_
