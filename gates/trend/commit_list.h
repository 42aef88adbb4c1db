// Parses commits from git's log, and finds those that change the files of a
// gate.
//
//   absl::StatusOr<std::vector<Commit>> commits = ParseCommitLog(text);
//   GateInputs inputs;
//   inputs.Add({"app/BUILD", "app/load_benchmark.cc"});
//   if (inputs.AreChangedBy(commits->front())) Measure();
//
// Pure; GateInputs is thread-compatible. The results own their texts. Memory
// and time: linear in the text.

#ifndef FOOTPRINT_GATES_TREND_COMMIT_LIST_H_
#define FOOTPRINT_GATES_TREND_COMMIT_LIST_H_

#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace footprint {

struct FileChange {
  char kind =
      'M';  // git's letter: A added, D deleted, M modified, T another type
  std::string path;  // from the repository's top
};

struct Commit {
  std::string hash;
  std::string author;
  std::string date;  // "2026-11-28"
  std::string subject;
  std::vector<FileChange> changes;  // against the first parent
};

// The arguments of `git log` whose output ParseCommitLog reads. Each commit is
// compared with its first parent, whatever the user has configured.
inline constexpr char kCommitLogArguments[] =
    "log --first-parent --diff-merges=first-parent --no-relative "
    "--no-renames --no-color --no-show-signature "
    "--date=short --name-status --format='%x01%H%x02%an%x02%ad%x02%s'";

// Parses the output of git log. Returns kInvalidArgument for any other text.
absl::StatusOr<std::vector<Commit>> ParseCommitLog(absl::string_view text);

// The files from which Bazel makes a gate's measurements, at some commits.
class GateInputs {
 public:
  // Adds files by their paths from the repository's top, with BUILD files.
  void Add(const std::vector<std::string>& paths);

  // Returns whether the commit is known to change the inputs: it changes one of
  // them, a link to one, or a file below a folder that is one; it adds or
  // deletes a file in one of their packages, which a glob may match; it changes
  // a .bzl file or one of Bazel's own (WORKSPACE, MODULE.bazel, its lock,
  // .bazelrc, .bazelversion, .bazelignore) in any folder; or it changes a file
  // whose name git writes in quotes. Other commits may change the measurement,
  // too: Bazel does not tell which files repository rules read and a .bazelrc
  // imports.
  bool AreChangedBy(const Commit& commit) const;

 private:
  bool IsInput(const std::string& path) const;
  bool IsInPackage(const std::string& path) const;

  std::set<std::string> files_;
  std::set<std::string> package_folders_;  // "" is the top
};

}  // namespace footprint

#endif  // FOOTPRINT_GATES_TREND_COMMIT_LIST_H_
