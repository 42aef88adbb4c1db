#include "footprint/base/files/regular_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/file_error.h"

namespace footprint {

absl::StatusOr<FileDescriptor> OpenRegularFile(const std::string& path) {
  FileDescriptor file(
      open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file.is_open()) return FileError(errno, path, "cannot be opened");
  struct stat status;
  if (fstat(file.get(), &status) != 0) {
    return FileError(errno, path, "cannot be opened");
  }
  if (!S_ISREG(status.st_mode)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": not a regular file; name the file itself"));
  }
  // Reads must wait for the disk, and io_uring treats O_NONBLOCK as a wish not
  // to wait.
  if (fcntl(file.get(), F_SETFL, 0) != 0) {
    return FileError(errno, path, "cannot be opened");
  }
  return file;
}

}  // namespace footprint
