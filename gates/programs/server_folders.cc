#include "footprint/gates/programs/server_folders.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "footprint/base/files/file_descriptor.h"
#include "footprint/base/files/file_error.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/gates/programs/program_output.h"

namespace footprint {
namespace {

std::string FolderOf(const char* variable, absl::string_view below_home) {
  const std::string folder = EnvironmentValue(variable);
  return folder.empty() || folder[0] != '/'
             ? absl::StrCat(EnvironmentValue("HOME"), "/", below_home)
             : folder;
}

}  // namespace

std::string StoreFolder() {
  return FolderOf("XDG_DATA_HOME", ".local/share") + "/footprint";
}

std::string ClientTokenPath() {
  return FolderOf("XDG_CONFIG_HOME", ".config") + "/footprint/token";
}

absl::Status MakeFolders(const std::string& folder) {
  for (size_t end = folder.find('/', 1);; end = folder.find('/', end + 1)) {
    const std::string part = folder.substr(0, end);
    if (mkdir(part.c_str(), 0700) != 0 && errno != EEXIST) {
      return FileError(errno, part, "cannot be made");
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
