#include "footprint/base/files/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/file_error.h"

namespace footprint {

bool LockFile(int descriptor, WhenLocked when_locked) {
  const int operation =
      when_locked == WhenLocked::kRefuse ? LOCK_EX | LOCK_NB : LOCK_EX;
  int result = 0;
  do {
    result = flock(descriptor, operation);
  } while (result != 0 && errno == EINTR);
  return result == 0;
}

bool LockFileIfPossible(int descriptor, WhenLocked when_locked) {
  return LockFile(descriptor, when_locked) || errno == ENOLCK ||
         errno == ENOSYS || errno == EOPNOTSUPP;
}

bool IsNamed(const std::string& path, Links links, int descriptor) {
  const int flags = links == Links::kRefuse ? AT_SYMLINK_NOFOLLOW : 0;
  struct stat opened, named;
  return fstat(descriptor, &opened) == 0 &&
         fstatat(AT_FDCWD, path.c_str(), &named, flags) == 0 &&
         opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

absl::StatusOr<FileLock> FileLock::TryAcquire(const std::string& path) {
  // O_NONBLOCK keeps a pipe of that name from blocking.
  FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open()) return FileError(errno, path, "cannot be opened");
  struct stat facts;
  if (fstat(file.get(), &facts) != 0 ||
      !(S_ISREG(facts.st_mode) || S_ISDIR(facts.st_mode))) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": is neither a regular file nor a folder"));
  }
  if (LockFileIfPossible(file.get(), WhenLocked::kRefuse)) {
    return FileLock(std::move(file));
  }
  if (errno == EWOULDBLOCK) {
    return absl::UnavailableError(
        absl::StrCat(path, ": is held by another process"));
  }
  return FileError(errno, path, "cannot be locked");
}

absl::StatusOr<FileLock> FileLock::Acquire(const std::string& path) {
  for (;;) {
    FileDescriptor file(
        open(path.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC, 0666));
    if (!file.is_open()) return FileError(errno, path, "cannot be opened");
    if (!LockFileIfPossible(file.get(), WhenLocked::kWait)) {
      return FileError(errno, path, "cannot be locked");
    }
    if (IsNamed(path, Links::kFollow, file.get()))
      return FileLock(std::move(file));
  }
}

}  // namespace footprint
