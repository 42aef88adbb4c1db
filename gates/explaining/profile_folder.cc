#include "footprint/gates/explaining/profile_folder.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/gates/commands/gate_targets.h"
#include "footprint/profiling/schema/memory_profile_file.h"

namespace footprint {
namespace {

constexpr char kEnding[] = ".binpb";
// Files of samples share the ending of profiles, but ReadProfiles skips them.
constexpr char kSamplesEnding[] = ".samples.binpb";

bool IsProfileName(const std::string& name) {
  return absl::EndsWith(name, kEnding) && !absl::EndsWith(name, kSamplesEnding);
}

absl::StatusOr<std::vector<std::string>> ProfilePathsBelow(
    const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  std::filesystem::recursive_directory_iterator entries(folder, error);
  for (; !error && entries != std::filesystem::end(entries);
       entries.increment(error)) {
    // A dangling link is not a regular file either, so its error is ignored.
    std::error_code ignored;
    if (IsProfileName(entries->path().string()) &&
        entries->is_regular_file(ignored)) {
      paths.push_back(entries->path().string());
    }
  }
  if (error) {
    return absl::UnavailableError(absl::StrCat(
        EscapeForTerminal(folder), ": cannot be listed: ", error.message(),
        "; check the permissions"));
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace

absl::StatusOr<std::vector<MemoryProfile>> ReadProfiles(
    const std::string& path) {
  std::vector<std::string> paths = {path};
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    absl::StatusOr<std::vector<std::string>> below = ProfilePathsBelow(path);
    if (!below.ok()) return below.status();
    paths = *std::move(below);
    if (paths.empty()) {
      return absl::NotFoundError(absl::StrCat(
          EscapeForTerminal(path), ": holds no profile, which is a file NAME",
          kEnding,
          "; memory_profile targets write them below bazel-bin, and "
          "`bazel run ",
          GateTarget("diff"), " -- --save=FOLDER` copies them"));
    }
  }
  std::vector<MemoryProfile> profiles;
  for (const std::string& each : paths) {
    absl::StatusOr<MemoryProfile> profile = ReadMemoryProfileFile(each);
    if (!profile.ok()) return profile.status();
    profiles.push_back(*std::move(profile));
  }
  return profiles;
}

absl::Status SaveProfiles(absl::Span<const MemoryProfile> profiles,
                          const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    return absl::UnavailableError(absl::StrCat(
        EscapeForTerminal(folder), ": cannot be made: ", error.message(),
        "; choose another folder"));
  }
  // ReadProfiles would read older profiles of the folder together with these.
  const absl::StatusOr<std::vector<std::string>> old =
      ProfilePathsBelow(folder);
  if (!old.ok()) return old.status();
  if (!old->empty()) {
    return absl::AlreadyExistsError(
        absl::StrCat(EscapeForTerminal(folder), ": holds ", old->size(),
                     " profiles already; choose another folder, or remove it"));
  }
  for (size_t i = 0; i < profiles.size(); ++i) {
    const absl::Status written = WriteMemoryProfileFile(
        profiles[i], absl::StrFormat("%s/%05d.profile.binpb", folder, i));
    if (!written.ok()) return written;
  }
  return absl::OkStatus();
}

}  // namespace footprint
