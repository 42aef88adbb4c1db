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
#include "footprint/gates/programs/command_flags.h"

namespace footprint {

// Returns the old and the new name of each --renamed=OLD=NEW. kInvalidArgument:
// one has another form.
absl::StatusOr<std::vector<std::pair<std::string, std::string>>> ReadRenamed(
    const CommandFlags& flags);

// Returns the caller's --worktree=, absolute, else the workspace's default
// (base_profiles.h). kInvalidArgument: there is no home for that.
absl::StatusOr<std::string> FindWorktree(const CommandFlags& flags,
                                         const std::string& workspace);

}  // namespace footprint

// Tested by compare_main_test and culprit_main_test.

#endif  // FOOTPRINT_GATES_PROGRAMS_REVISION_FLAGS_H_
