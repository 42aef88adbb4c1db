// Measures the profiles of another revision of the caller's repository, with
// Bazel in a separate git worktree.
//
//   BaseRevision base;
//   base.revision = "origin/main";
//   base.diff_target = "//gates:diff";
//   absl::StatusOr<std::vector<MemoryProfile>> profiles =
//       MeasureBaseProfiles(base);
//
// The worktree is outside the repository and is kept, so that Bazel builds only
// what changed since the last time. A mark among git's files says that this
// program made it. A checkout without the mark is refused and stays as it is,
// because a check-out of a revision would remove its changes and untracked
// files. The revision's own gate writes the profiles with `diff -- --save`. So
// the revision must already have the gate. Submodules are not checked out.
//
// The functions are not thread-safe. They run git and Bazel, whose output goes
// to standard error, and wait for them. One call at a time locks the worktree.
// Memory: the profiles.

#ifndef FOOTPRINT_GATES_PROGRAMS_BASE_PROFILES_H_
#define FOOTPRINT_GATES_PROGRAMS_BASE_PROFILES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

struct BaseRevision {
  std::string revision;         // "origin/main"
  std::string workspace;        // the caller's workspace, absolute
  std::string diff_target;      // a gate's diff program in it
  std::string worktree;         // absolute; made if it is missing
  std::string bazel = "bazel";  // a shell command, may have start-up flags
};

// Returns the default worktree of a workspace: below XDG_CACHE_HOME, or
// ~/.cache. Returns "" if there is no home.
std::string DefaultWorktree(const std::string& workspace);

// Returns the profiles of the revision. Returns kInvalidArgument if there is no
// such revision or no repository, or the worktree is not ours; kNotFound if the
// revision does not have the gate; kFailedPrecondition if it does not build or
// cannot be measured; kCancelled if git or Bazel was interrupted, which says
// nothing about the revision; and kUnavailable if it cannot be checked out, or
// the worktree cannot be locked. Other errors are those of ReadProfiles.
absl::StatusOr<std::vector<MemoryProfile>> MeasureBaseProfiles(
    const BaseRevision& base);

struct MeasuredRevision {
  std::vector<MemoryProfile> profiles;
  // The files of the repository that the gate is made from, as far as Bazel
  // tells, with BUILD files and links, by their paths from its top.
  std::vector<std::string> inputs;
};

// Measures the revision, and returns its inputs, too. The errors are those of
// MeasureBaseProfiles.
absl::StatusOr<MeasuredRevision> MeasureRevision(const BaseRevision& base);

// Returns the inputs of a gate in a workspace, without a change to it. Returns
// kFailedPrecondition if Bazel cannot list them or there is no git repository,
// and kCancelled if one of the two was interrupted.
absl::StatusOr<std::vector<std::string>> FindGateInputs(
    const std::string& bazel, const std::string& workspace,
    const std::string& target);

}  // namespace footprint

// Tested by compare_main_test.

#endif  // FOOTPRINT_GATES_PROGRAMS_BASE_PROFILES_H_
