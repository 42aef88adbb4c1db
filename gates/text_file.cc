#include "footprint/gates/text_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace footprint {
namespace {

constexpr int64_t kMaximumFileBytes = int64_t{256} << 20;

absl::Status ErrnoStatus(int error, const std::string& path,
                         const std::string& doing) {
  const std::string message =
      absl::StrCat(path, ": ", doing, ": ", std::strerror(error));
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return absl::NotFoundError(message + "; check the path");
    case EACCES:
    case EPERM:
    case EROFS:
      return absl::PermissionDeniedError(
          message + "; make it writable or readable for you, then run again");
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return absl::ResourceExhaustedError(
          message + "; the old file is as it was: free disk space, run again");
    default:
      return absl::InternalError(message);
  }
}

bool WriteAll(int descriptor, absl::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(descriptor, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    text.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

// Where `path` leads if it is a symbolic link, else itself.
std::string FollowLinks(const std::string& path) {
  char* resolved = realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return path;
  std::string target = resolved;
  free(resolved);
  return target;
}

}  // namespace

absl::StatusOr<std::string> ReadTextFile(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return ErrnoStatus(errno, path, "cannot be opened");
  struct stat facts;
  if (fstat(file, &facts) != 0 || !S_ISREG(facts.st_mode) ||
      facts.st_size > kMaximumFileBytes) {
    close(file);
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": is not a regular file of at most ",
                     kMaximumFileBytes, " bytes; name a text file"));
  }
  std::string text(static_cast<size_t>(facts.st_size), '\0');
  size_t filled = 0;
  ssize_t count = 1;
  while (filled < text.size() && count != 0) {
    count = read(file, &text[filled], text.size() - filled);
    if (count < 0 && errno != EINTR) {
      const int error = errno;
      close(file);
      return ErrnoStatus(error, path, "cannot be read");
    }
    if (count > 0) filled += static_cast<size_t>(count);
  }
  close(file);
  text.resize(filled);
  return text;
}

absl::Status ReplaceTextFile(const std::string& path, absl::string_view text) {
  const std::string target = FollowLinks(path);
  struct stat facts;
  const bool exists = stat(target.c_str(), &facts) == 0;
  // A file that its owner made read-only is not replaced behind their back.
  if (exists && access(target.c_str(), W_OK) != 0) {
    return ErrnoStatus(errno, path, "cannot be written");
  }
  if (exists && (facts.st_mode & 0222) == 0) {
    return ErrnoStatus(EACCES, path, "is marked read-only");
  }
  const std::string partial = absl::StrCat(target, ".", getpid(), ".partial");
  const int file =
      open(partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) return ErrnoStatus(errno, path, "cannot be written");
  bool is_written = WriteAll(file, text) && fsync(file) == 0;
  if (exists) is_written = is_written && fchmod(file, facts.st_mode) == 0;
  int error = errno;
  if (close(file) != 0 && is_written) {
    is_written = false;
    error = errno;
  }
  if (is_written && std::rename(partial.c_str(), target.c_str()) != 0) {
    is_written = false;
    error = errno;
  }
  if (is_written) return absl::OkStatus();
  unlink(partial.c_str());
  return ErrnoStatus(error, path, "cannot be written");
}

absl::StatusOr<FileLock> FileLock::TryAcquire(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return ErrnoStatus(errno, path, "cannot be opened");
  if (flock(file, LOCK_EX | LOCK_NB) == 0) return FileLock(file);
  const int error = errno;
  close(file);
  if (error == EWOULDBLOCK) {
    return absl::UnavailableError(
        absl::StrCat(path, ": is held by another process"));
  }
  return ErrnoStatus(error, path, "cannot be locked");
}

FileLock::FileLock(FileLock&& other) noexcept : descriptor_(other.descriptor_) {
  other.descriptor_ = -1;
}

FileLock::~FileLock() {
  if (descriptor_ >= 0) close(descriptor_);
}

}  // namespace footprint
