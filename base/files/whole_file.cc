#include "footprint/base/files/whole_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace footprint {
namespace {

// Far above any profile or threshold; keeps a foreign file from filling the
// memory.
constexpr int64_t kMaximumFileBytes = int64_t{256} << 20;

absl::Status ErrnoStatus(int error, const std::string& path,
                         const std::string& doing) {
  const std::string message =
      absl::StrCat(path, ": ", doing, ": ", std::strerror(error));
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return absl::NotFoundError(
          message + "; check the path, or run again what writes it");
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

// Closes on every way out.
class FileDescriptor {
 public:
  explicit FileDescriptor(int descriptor) : descriptor_(descriptor) {}
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  int get() const { return descriptor_; }
  // False, with errno, if what was written could not all be stored.
  bool Close() {
    const int descriptor = descriptor_;
    descriptor_ = -1;
    return close(descriptor) == 0;
  }

 private:
  int descriptor_;
};

bool WriteAll(int descriptor, absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

// Where `path` leads if it is a symbolic link, else itself.
std::string FollowLinks(const std::string& path) {
  char* resolved = realpath(path.c_str(), nullptr);
  if (resolved == nullptr) {
    // A link to a file that is not there yet.
    char leads_to[4096];
    const ssize_t length = readlink(path.c_str(), leads_to, sizeof(leads_to));
    if (length <= 0 || length == sizeof(leads_to)) return path;
    const std::string target(leads_to, static_cast<size_t>(length));
    return target[0] == '/' ? target : FolderOf(path) + "/" + target;
  }
  std::string target = resolved;
  free(resolved);
  return target;
}

// The file that is to be replaced: where it is, and, if it exists, its mode.
struct Target {
  std::string path;
  bool exists = false;
  mode_t mode = 0;
};

absl::StatusOr<Target> FindTarget(const std::string& path) {
  Target target;
  target.path = FollowLinks(path);
  struct stat facts;
  if (stat(target.path.c_str(), &facts) != 0) return target;
  target.exists = true;
  target.mode = facts.st_mode;
  if (!S_ISREG(facts.st_mode)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": is not a regular file; name a file to write"));
  }
  if (access(target.path.c_str(), W_OK) != 0) {
    return ErrnoStatus(errno, path, "cannot be written");
  }
  // Not replaced behind the owner's back, even for root.
  if ((facts.st_mode & 0222) == 0) {
    return ErrnoStatus(EACCES, path, "is marked read-only");
  }
  return target;
}

// A new file in the folder of `path`, its name in `partial`; -1, with errno, if
// none can be made. Unlike mkstemp's, its permissions follow the umask.
int OpenBeside(const std::string& path, std::string* partial) {
  constexpr int kAttempts = 1000;
  int descriptor = -1;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    *partial = absl::StrCat(path, ".", getpid(), ".", attempt, ".partial");
    descriptor =
        open(partial->c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0 || errno != EEXIST) break;
  }
  return descriptor;
}

// So that the new name outlasts a loss of power, too. Some file systems cannot,
// and the file itself is whole by now: no error.
void FlushFolder(const std::string& folder) {
  const FileDescriptor file(
      open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (file.get() >= 0) fsync(file.get());
}

}  // namespace

absl::StatusOr<std::string> ReadWholeFile(const std::string& path) {
  // Not to be held up by a pipe of that name.
  const FileDescriptor file(
      open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) return ErrnoStatus(errno, path, "cannot be opened");
  struct stat facts;
  if (fstat(file.get(), &facts) != 0) {
    return ErrnoStatus(errno, path, "cannot be read");
  }
  if (!S_ISREG(facts.st_mode) || facts.st_size > kMaximumFileBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": is not a regular file of at most ",
                     kMaximumFileBytes, " bytes; name the file itself"));
  }
  std::string bytes(static_cast<size_t>(facts.st_size), '\0');
  size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t count =
        read(file.get(), &bytes[filled], bytes.size() - filled);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return ErrnoStatus(errno, path, "cannot be read");
    if (count == 0) break;
    filled += static_cast<size_t>(count);
  }
  bytes.resize(filled);
  return bytes;
}

absl::Status ReplaceFile(const std::string& path, absl::string_view bytes,
                         ToDisk to_disk) {
  const absl::StatusOr<Target> target = FindTarget(path);
  if (!target.ok()) return target.status();
  std::string partial;
  FileDescriptor file(OpenBeside(target->path, &partial));
  if (file.get() < 0) return ErrnoStatus(errno, path, "cannot be written");
  if (WriteAll(file.get(), bytes) &&
      (to_disk == ToDisk::kAtLeisure || fsync(file.get()) == 0) &&
      (!target->exists || fchmod(file.get(), target->mode & 07777) == 0) &&
      file.Close() && std::rename(partial.c_str(), target->path.c_str()) == 0) {
    if (to_disk == ToDisk::kFlush) FlushFolder(FolderOf(target->path));
    return absl::OkStatus();
  }
  const int error = errno;
  unlink(partial.c_str());
  return ErrnoStatus(error, path, "cannot be written");
}

absl::Status CheckReplaceable(const std::string& path) {
  const absl::StatusOr<Target> target = FindTarget(path);
  if (!target.ok()) return target.status();
  std::string partial;
  const FileDescriptor file(OpenBeside(target->path, &partial));
  if (file.get() < 0) return ErrnoStatus(errno, path, "cannot be written");
  std::remove(partial.c_str());
  return absl::OkStatus();
}

}  // namespace footprint
