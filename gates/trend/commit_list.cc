#include "footprint/gates/trend/commit_list.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"

namespace footprint {
namespace {

constexpr char kCommitMark = '\x01';
constexpr char kFieldMark = '\x02';

// Files at any place that every target may depend on.
constexpr const char* kFilesOfAll[] = {"WORKSPACE",        "WORKSPACE.bazel",
                                       "WORKSPACE.bzlmod", "MODULE.bazel.lock",
                                       ".bazelversion",    ".bazelignore"};
// A module may include() "x.MODULE.bazel".
constexpr const char* kEndingsOfAll[] = {".bzl", ".bazelrc", "MODULE.bazel"};

absl::string_view NameOf(const std::string& path) {
  const absl::string_view name = path;
  const size_t slash = name.rfind('/');
  return slash == absl::string_view::npos ? name : name.substr(slash + 1);
}

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

bool IsOfAll(const std::string& path) {
  const absl::string_view name = NameOf(path);
  return std::any_of(std::begin(kFilesOfAll), std::end(kFilesOfAll),
                     [name](const char* each) { return name == each; }) ||
         std::any_of(
             std::begin(kEndingsOfAll), std::end(kEndingsOfAll),
             [name](const char* each) { return absl::EndsWith(name, each); });
}

}  // namespace

absl::StatusOr<std::vector<Commit>> ParseCommitLog(absl::string_view text) {
  std::vector<Commit> commits;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (line.empty()) continue;
    if (line[0] == kCommitMark) {
      const std::vector<std::string> fields =
          absl::StrSplit(line.substr(1), absl::MaxSplits(kFieldMark, 3));
      if (fields.size() != 4) {
        return absl::InvalidArgumentError("git's log has a commit of no form");
      }
      commits.push_back({fields[0], fields[1], fields[2], fields[3], {}});
      continue;
    }
    const std::pair<absl::string_view, absl::string_view> change =
        absl::StrSplit(line, absl::MaxSplits('\t', 1));
    if (commits.empty() || change.first.empty() || change.second.empty()) {
      return absl::InvalidArgumentError("git's log has a line of no form");
    }
    commits.back().changes.push_back(
        {change.first[0], std::string(change.second)});
  }
  return commits;
}

void GateInputs::Add(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    files_.insert(path);
    const absl::string_view name = NameOf(path);
    if (name == "BUILD" || name == "BUILD.bazel") {
      package_folders_.insert(FolderOf(path));
    }
  }
}

bool GateInputs::IsInPackage(const std::string& path) const {
  std::string folder = FolderOf(path);
  while (package_folders_.count(folder) == 0) {
    if (folder.empty()) return false;
    folder = FolderOf(folder);
  }
  return true;
}

bool GateInputs::IsInput(const std::string& path) const {
  // A folder may be an input as a whole, and a link may stand for a folder.
  std::string folder = path;
  while (!folder.empty() && files_.count(folder) == 0) {
    folder = FolderOf(folder);
  }
  if (!folder.empty()) return true;
  const auto below = files_.lower_bound(path + "/");
  return below != files_.end() && absl::StartsWith(*below, path + "/");
}

bool GateInputs::AreChangedBy(const Commit& commit) const {
  for (const FileChange& change : commit.changes) {
    // A name that git writes in quotes is not compared.
    if (change.path[0] == '"' || IsOfAll(change.path) || IsInput(change.path) ||
        (change.kind != 'M' && IsInPackage(change.path))) {
      return true;
    }
  }
  return false;
}

}  // namespace footprint
