#include "footprint/gates/programs/server_folders.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "footprint/base/files/file_descriptor.h"
#include "footprint/base/files/file_error.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/gates/programs/program_output.h"

namespace footprint {
namespace {

// The XDG base directory specification says that a relative folder is ignored.
absl::StatusOr<std::string> BaseFolder(const char* variable,
                                       absl::string_view below_home,
                                       absl::string_view flag) {
  const std::string folder = EnvironmentValue(variable);
  if (!folder.empty() && folder[0] == '/') return folder;
  const std::string home = EnvironmentValue("HOME");
  if (!home.empty() && home[0] == '/') {
    return absl::StrCat(home, "/", below_home);
  }
  return absl::FailedPreconditionError(
      absl::StrCat("neither HOME nor ", variable,
                   " names a folder: set one of them, or give ", flag));
}

}  // namespace

absl::StatusOr<std::string> StoreFolder() {
  const absl::StatusOr<std::string> folder =
      BaseFolder("XDG_DATA_HOME", ".local/share", "--store");
  return folder.ok() ? *folder + "/footprint" : folder;
}

absl::StatusOr<std::string> ClientTokenPath() {
  const absl::StatusOr<std::string> folder =
      BaseFolder("XDG_CONFIG_HOME", ".config", "--token_file");
  return folder.ok() ? *folder + "/footprint/token" : folder;
}

absl::StatusOr<std::string> ProgramPath(absl::string_view flag,
                                        const std::string& path) {
  if (path.empty()) return path;
  std::error_code error;
  const std::filesystem::path absolute =
      std::filesystem::absolute(PathOfCaller(path), error);
  if (!error && std::filesystem::is_regular_file(absolute, error) &&
      access(absolute.c_str(), X_OK) == 0) {
    return absolute.string();
  }
  return absl::InvalidArgumentError(
      absl::StrCat(flag, ": ", path,
                   " is not a program that can be run; name the built one"));
}

absl::Status MakeFolders(const std::string& folder) {
  for (size_t end = folder.find('/', 1);; end = folder.find('/', end + 1)) {
    const std::string part = folder.substr(0, end);
    if (mkdir(part.c_str(), 0700) != 0 && errno != EEXIST) {
      return FileError(errno, part, "cannot be made");
    }
    struct stat status;
    if (stat(part.c_str(), &status) == 0 && !S_ISDIR(status.st_mode)) {
      return FileError(ENOTDIR, part, "cannot be made");
    }
    if (end == std::string::npos) return absl::OkStatus();
  }
}

absl::Status WriteSecretFile(const std::string& path, absl::string_view text) {
  const size_t end = path.rfind('/');
  if (end != std::string::npos && end > 0) {
    const absl::Status made = MakeFolders(path.substr(0, end));
    if (!made.ok()) return made;
  }
  const FileDescriptor file(
      open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  if (!file.is_open() || fchmod(file.get(), 0600) != 0) {
    return FileError(errno, path, "cannot be made");
  }
  return ReplaceFile(path, text, ToDisk::kFlush);
}

}  // namespace footprint
