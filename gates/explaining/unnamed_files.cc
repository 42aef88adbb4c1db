#include "footprint/gates/explaining/unnamed_files.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "footprint/base/files/whole_file.h"

namespace footprint {
namespace {

constexpr absl::string_view kRule = "memory_profile(";
constexpr absl::string_view kMark = "# proto-message: footprint.ThresholdFile";

bool IsBuildFile(const std::string& name) {
  return name == "BUILD" || name == "BUILD.bazel" ||
         absl::EndsWith(name, ".bzl");
}

// Returns the folder of a path; "" is the top.
std::string FindFolder(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

class Workspace {
 public:
  explicit Workspace(const std::string& top)
      : top_(absl::StripSuffix(top, "/")) {}

  absl::Status Read() {
    std::error_code error;
    std::filesystem::recursive_directory_iterator entries(top_, error);
    for (; !error && entries != std::filesystem::end(entries);
         entries.increment(error)) {
      const std::string name = entries->path().filename().string();
      std::error_code ignored;
      if (entries->is_symlink(ignored) || name[0] == '.') {
        // This skips bazel-bin and the like, and hidden folders.
        if (entries->is_directory(ignored)) entries.disable_recursion_pending();
        continue;
      }
      if (entries->is_regular_file(ignored)) ReadFile(*entries);
    }
    if (!error) return absl::OkStatus();
    return absl::UnavailableError(absl::StrCat(
        top_, ": cannot be listed: ", error.message(), "; check the folder"));
  }

  std::vector<UnnamedFile> Unnamed() const {
    std::vector<UnnamedFile> unnamed;
    for (const std::string& path : threshold_paths_) {
      if (!IsFileNamed(path)) unnamed.push_back({path, false});
    }
    for (const auto& build : builds_) AddProfiles(build.first, &unnamed);
    std::sort(unnamed.begin(), unnamed.end(),
              [](const UnnamedFile& a, const UnnamedFile& b) {
                return a.name < b.name;
              });
    return unnamed;
  }

 private:
  void ReadFile(const std::filesystem::directory_entry& entry) {
    const std::string path = entry.path().string().substr(top_.size() + 1);
    const std::string name = entry.path().filename().string();
    const bool is_thresholds = absl::EndsWith(name, ".textproto");
    if (!is_thresholds && !IsBuildFile(name)) return;
    const absl::StatusOr<std::string> text =
        ReadWholeFile(entry.path().string());
    if (!text.ok()) return;  // a file that cannot be read names nothing
    if (!is_thresholds) {
      builds_[path] = *text;
    } else if (absl::StrContains(*text, kMark)) {
      threshold_paths_.push_back(path);
    }
  }

  // Returns whether a build file of the folder has a memory_gate of that name,
  // whose thresholds are by default NAME_thresholds.textproto.
  static bool MayHaveGate(const std::string& build, absl::string_view name) {
    return absl::StrContains(build, "memory_gate(") &&
           absl::StrContains(build, absl::StrCat("name = \"", name, "\""));
  }

  bool IsFileNamed(const std::string& path) const {
    const std::string name = path.substr(FindFolder(path).size());
    const std::string base = name[0] == '/' ? name.substr(1) : name;
    absl::string_view gate = base;
    const bool is_default = absl::ConsumeSuffix(&gate, "_thresholds.textproto");
    for (const auto& build : builds_) {
      const std::string folder = FindFolder(build.first);
      if (is_default && folder == FindFolder(path) &&
          MayHaveGate(build.second, gate)) {
        return true;
      }
      if (!folder.empty() && !absl::StartsWith(path, folder + "/")) continue;
      if (absl::StrContains(build.second, base) ||
          absl::StrContains(build.second, "*.textproto")) {
        return true;
      }
    }
    return false;
  }

  // Returns how often `name` is in a string literal, alone or after a colon.
  int CountOfName(const std::string& name) const {
    int count = 0;
    for (const auto& build : builds_) {
      const std::string end = name + "\"";
      for (size_t at = build.second.find(end); at != std::string::npos;
           at = build.second.find(end, at + 1)) {
        const char before = at > 0 ? build.second[at - 1] : ' ';
        count += before == '"' || before == ':' ? 1 : 0;
      }
    }
    return count;
  }

  void AddProfiles(const std::string& path,
                   std::vector<UnnamedFile>* unnamed) const {
    const std::string& text = builds_.at(path);
    if (absl::EndsWith(path, ".bzl")) return;
    constexpr absl::string_view kName = "name = \"";
    for (size_t at = text.find(std::string(kRule)); at != std::string::npos;
         at = text.find(std::string(kRule), at + 1)) {
      const size_t name = text.find(std::string(kName), at);
      if (name == std::string::npos) return;
      const size_t begin = name + kName.size();
      const std::string target =
          text.substr(begin, text.find('"', begin) - begin);
      // One occurrence is the rule that makes it.
      if (CountOfName(target) > 1) continue;
      unnamed->push_back(
          {absl::StrCat("//", FindFolder(path), ":", target), true});
    }
  }

  const std::string top_;
  std::map<std::string, std::string> builds_;  // by path
  std::vector<std::string> threshold_paths_;
};

}  // namespace

absl::StatusOr<std::vector<UnnamedFile>> FindUnnamedFiles(
    const std::string& workspace) {
  Workspace files(workspace);
  const absl::Status read = files.Read();
  if (!read.ok()) return read;
  return files.Unnamed();
}

}  // namespace footprint
