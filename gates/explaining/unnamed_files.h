// Finds the threshold files and profiles of a workspace that no build file
// names, so that no gate uses them.
//
//   absl::StatusOr<std::vector<UnnamedFile>> files =
//       FindUnnamedFiles("/home/me/project");
//   if (!files.ok()) return files.status();
//   for (const UnnamedFile& file : *files) std::puts(file.name.c_str());
//
// It reads text and does not run Bazel. Threshold files are those ".textproto"
// files that have the line "# proto-message: footprint.ThresholdFile". Links,
// and files and folders whose names begin with a dot, are skipped. A file
// counts as named if its name, or a glob of *.textproto, is in a BUILD file or
// .bzl file of its folder or of one above it, or if it is the default file of a
// memory_gate of its own folder. A memory_profile counts as named if its name
// is in any BUILD or .bzl file of the workspace besides its own rule. So a
// profile that a macro makes is not found, and a file that is named for another
// purpose counts as used.
//
// The result is a copy. Thread-safe. Memory: the workspace's build files. Time:
// each threshold file and each profile is looked for in all of them.

#ifndef FOOTPRINT_GATES_EXPLAINING_UNNAMED_FILES_H_
#define FOOTPRINT_GATES_EXPLAINING_UNNAMED_FILES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace footprint {

struct UnnamedFile {
  std::string name;  // "a/b.textproto" or "//a:b"
  bool is_profile = false;
};

// Returns the files in sorted order, or kUnavailable if the folder cannot be
// listed.
absl::StatusOr<std::vector<UnnamedFile>> FindUnnamedFiles(
    const std::string& workspace);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_EXPLAINING_UNNAMED_FILES_H_
