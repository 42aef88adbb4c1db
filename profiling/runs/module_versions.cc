#include "footprint/profiling/runs/module_versions.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "footprint/base/files/whole_file.h"

namespace footprint {
namespace {

namespace fs = std::filesystem;

// The names of what was loaded, by the folder of packages.
using Packages = std::map<std::string, std::set<std::string>>;

// Returns whether the object belongs to a Python package, and if so, stores
// that.
bool NotePackage(absl::string_view path, Packages* packages) {
  for (absl::string_view folder : {"/dist-packages/", "/site-packages/"}) {
    const size_t begin = path.rfind(folder);
    if (begin == absl::string_view::npos) continue;
    const size_t end = begin + folder.size();
    absl::string_view name = path.substr(end);
    name = name.substr(0, name.find_first_of("/."));
    (*packages)[std::string(path.substr(0, end))].emplace(name);
    return true;
  }
  return false;
}

// Returns one form, such as "scikit-learn", for the forms in which a name is
// written.
std::string PlainName(absl::string_view name) {
  return absl::AsciiStrToLower(
      absl::StrReplaceAll(name, {{"_", "-"}, {".", "-"}}));
}

// Returns whether the metadata belong to a package that was loaded.
bool IsLoaded(const std::set<std::string>& loaded, const fs::path& metadata,
              absl::string_view name) {
  const absl::StatusOr<std::string> listed =
      ReadWholeFile((metadata / "top_level.txt").string());
  if (listed.ok()) {
    const std::vector<std::string> names =
        absl::StrSplit(*listed, '\n', absl::SkipEmpty());
    return std::any_of(names.begin(), names.end(), [&](const auto& each) {
      return loaded.count(each) > 0;
    });
  }
  return std::any_of(loaded.begin(), loaded.end(), [&](const auto& each) {
    return PlainName(each) == PlainName(name);
  });
}

void AddPackages(const std::string& folder, const std::set<std::string>& loaded,
                 std::set<std::string>* versions) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string file = entry->path().filename().string();
    absl::string_view stem = file;
    if (!absl::ConsumeSuffix(&stem, ".dist-info") &&
        !absl::ConsumeSuffix(&stem, ".egg-info")) {
      continue;
    }
    // Stems look like "scikit_learn-1.2.1"; some also have "-py3.11".
    const std::vector<absl::string_view> words = absl::StrSplit(stem, '-');
    if (words.size() < 2 || !IsLoaded(loaded, entry->path(), words[0]))
      continue;
    versions->insert(absl::StrCat(PlainName(words[0]), " ", words[1]));
  }
}

// Returns whether the name has a dot between two digits: "libz.so.1.2.13" and
// "libopenblasp-r0.3.21.so" have one, "libc.so.6" has none.
bool HasVersion(absl::string_view name) {
  for (size_t i = 1; i + 1 < name.size(); ++i) {
    if (name[i] == '.' &&
        absl::ascii_isdigit(static_cast<unsigned char>(name[i - 1])) &&
        absl::ascii_isdigit(static_cast<unsigned char>(name[i + 1]))) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::vector<std::string> ModuleVersions(
    const std::vector<std::string>& object_paths) {
  Packages packages;
  std::set<std::string> versions;
  for (const std::string& path : object_paths) {
    if (NotePackage(path, &packages)) continue;
    std::error_code error;
    const std::string name = fs::canonical(path, error).filename().string();
    if (!error && HasVersion(name)) versions.insert(name);
  }
  for (const auto& [folder, loaded] : packages) {
    AddPackages(folder, loaded, &versions);
  }
  return {versions.begin(), versions.end()};
}

}  // namespace footprint
