#include "footprint/base/files/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace footprint {

absl::StatusOr<FileLock> FileLock::TryAcquire(const std::string& path) {
  // Not to be held up by a pipe of that name.
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) {
    const std::string message =
        absl::StrCat(path, ": cannot be opened: ", std::strerror(errno));
    if (errno == ENOENT || errno == ENOTDIR) {
      return absl::NotFoundError(message + "; check the path");
    }
    return absl::InternalError(message);
  }
  struct stat facts;
  if (fstat(file, &facts) != 0 ||
      !(S_ISREG(facts.st_mode) || S_ISDIR(facts.st_mode))) {
    close(file);
    return absl::InternalError(
        absl::StrCat(path, ": is neither a regular file nor a folder"));
  }
  if (flock(file, LOCK_EX | LOCK_NB) == 0) return FileLock(file);
  const int error = errno;
  close(file);
  if (error == EWOULDBLOCK) {
    return absl::UnavailableError(
        absl::StrCat(path, ": is held by another process"));
  }
  return absl::InternalError(
      absl::StrCat(path, ": cannot be locked: ", std::strerror(error)));
}

FileLock::FileLock(FileLock&& other) noexcept : descriptor_(other.descriptor_) {
  other.descriptor_ = -1;
}

FileLock::~FileLock() {
  if (descriptor_ >= 0) close(descriptor_);
}

}  // namespace footprint
