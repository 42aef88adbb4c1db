// Asks git for the commits of a workspace's repository.
//
//   absl::StatusOr<std::vector<Commit>> commits =
//       ReadCommitLog("/home/ann/project", {"v1.0..main"});
//
// A merge counts as one commit, compared with its first parent. Not
// thread-safe: the functions run git and wait. Memory: the commits, twice.

#ifndef FOOTPRINT_GATES_PROGRAMS_GIT_LOG_H_
#define FOOTPRINT_GATES_PROGRAMS_GIT_LOG_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "footprint/gates/trend/commit_list.h"

namespace footprint {

// Returns the output of git with these arguments ("rev-parse", "HEAD"), without
// whitespace around it. Returns kFailedPrecondition, with git's message, if git
// fails. This and the following functions return kCancelled if git was
// interrupted.
absl::StatusOr<std::string> AskGit(const std::string& workspace,
                                   const std::vector<std::string>& arguments);

// Returns the hash of a revision's commit. Returns kInvalidArgument if the
// revision or the repository does not exist.
absl::StatusOr<std::string> FindCommit(const std::string& workspace,
                                       const std::string& revision);

// Returns the commits that these further arguments of git log select, the
// oldest first. Returns kFailedPrecondition if git fails, and the errors of
// ParseCommitLog.
absl::StatusOr<std::vector<Commit>> ReadCommitLog(
    const std::string& workspace, const std::vector<std::string>& arguments);

}  // namespace footprint

// Tested by culprit_main_test.

#endif  // FOOTPRINT_GATES_PROGRAMS_GIT_LOG_H_
