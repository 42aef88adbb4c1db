// Commits of a workspace's repository, by git.
//
//   absl::StatusOr<std::vector<Commit>> commits =
//       ReadCommitLog("/home/ann/project", {"v1.0..main"});
//
// Merges count as one commit, against their first parent. Not thread-safe: runs
// git, and waits. Memory: the commits, twice.

#ifndef FOOTPRINT_GATES_PROGRAMS_GIT_LOG_H_
#define FOOTPRINT_GATES_PROGRAMS_GIT_LOG_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "footprint/gates/trend/commit_list.h"

namespace footprint {

// Returns what git says of `arguments` ("rev-parse", "HEAD"), without white
// space around it. kFailedPrecondition, with git's words: it ends with another
// status than 0. kCancelled, here and below: it was interrupted.
absl::StatusOr<std::string> AskGit(const std::string& workspace,
                                   const std::vector<std::string>& arguments);

// Returns the hash of a revision's commit. kInvalidArgument: there is no such
// revision, or no repository.
absl::StatusOr<std::string> FindCommit(const std::string& workspace,
                                       const std::string& revision);

// Returns the commits that further arguments of git's log name, oldest first.
absl::StatusOr<std::vector<Commit>> ReadCommitLog(
    const std::string& workspace, const std::vector<std::string>& arguments);

}  // namespace footprint

// Tested by culprit_main_test.

#endif  // FOOTPRINT_GATES_PROGRAMS_GIT_LOG_H_
