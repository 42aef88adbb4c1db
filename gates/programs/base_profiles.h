// Measures the profiles of another revision of the caller's repository, with
// Bazel in a git worktree of its own.
//
//   BaseRevision base;
//   base.revision = "origin/main";
//   base.diff_target = "//gates:diff";
//   absl::StatusOr<std::vector<MemoryProfile>> profiles =
//       MeasureBaseProfiles(base);
//
// The worktree lies outside the repository and is kept, so that Bazel builds
// there only what changed since the last time. It is checked out at the
// revision, whose own gate writes the profiles with `diff -- --save`. So the
// revision must already have the gate. Submodules are not checked out.
//
// The functions are not thread-safe: they run git and Bazel, whose output goes
// to standard error, and wait. One call at a time holds the worktree. Memory:
// the profiles.

#ifndef FOOTPRINT_GATES_PROGRAMS_BASE_PROFILES_H_
#define FOOTPRINT_GATES_PROGRAMS_BASE_PROFILES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "footprint/profiling/schema/memory_profile.pb.h"

namespace footprint {

struct BaseRevision {
  std::string revision;         // "origin/main"
  std::string workspace;        // of the caller, absolute
  std::string diff_target;      // a gate's diff program in it
  std::string worktree;         // absolute; made if it is missing
  std::string bazel = "bazel";  // as a shell takes it, with start-up flags
};

// Returns where the worktree of a workspace lies by default: below
// XDG_CACHE_HOME, or ~/.cache. Empty if there is no home.
std::string DefaultWorktree(const std::string& workspace);

// kInvalidArgument: no such revision, or no repository. kNotFound: the revision
// has no such gate. kFailedPrecondition: it does not build, or cannot be
// measured. kUnavailable: another call holds the worktree.
absl::StatusOr<std::vector<MemoryProfile>> MeasureBaseProfiles(
    const BaseRevision& base);

}  // namespace footprint

// Tested by compare_main_test.

#endif  // FOOTPRINT_GATES_PROGRAMS_BASE_PROFILES_H_
