#include "footprint/base/files/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace footprint {
namespace {

constexpr size_t kBufferBytes = 64 * 1024;

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// A stale one is removed unasked, so the name is one that no user chooses.
std::string PartialPath(const std::string& path) {
  const size_t name = path.rfind('/') + 1;  // 0 without a folder
  return absl::StrCat(path.substr(0, name), ".", path.substr(name),
                      ".footprint-partial");
}

bool IsFull(int error) {
  return error == ENOSPC || error == EDQUOT || error == EFBIG;
}

// Beyond the limit of file sizes the system refuses and ends the program by a
// signal besides. While this lives, the thread gets the refusal alone.
class FileSizeSignalHeld {
 public:
  FileSizeSignalHeld() {
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGXFSZ) == 1;
    sigemptyset(&signal_);
    sigaddset(&signal_, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &signal_, &before_);
  }
  ~FileSizeSignalHeld() {
    const int error = errno;
    const struct timespec at_once = {0, 0};
    while (!was_pending_ && sigtimedwait(&signal_, nullptr, &at_once) < 0 &&
           errno == EINTR) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
  }
  FileSizeSignalHeld(const FileSizeSignalHeld&) = delete;
  FileSizeSignalHeld& operator=(const FileSizeSignalHeld&) = delete;

 private:
  sigset_t signal_;
  sigset_t before_;
  bool was_pending_;
};

bool ExceedsFileSizeLimit(int64_t bytes) {
  struct rlimit limit;
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
         limit.rlim_cur != RLIM_INFINITY &&
         static_cast<uint64_t>(bytes) > limit.rlim_cur;
}

// Whether `path`, itself no link, is the name of what is open.
bool Names(const std::string& path, int descriptor) {
  struct stat opened, named;
  return fstat(descriptor, &opened) == 0 && lstat(path.c_str(), &named) == 0 &&
         opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

// Where the links end: at a file, or where one may be made.
absl::StatusOr<std::string> FollowLinks(absl::string_view link) {
  constexpr int kMostLinks = 40;  // the system's own limit
  std::string path(link);
  for (int i = 0; i < kMostLinks; ++i) {
    char target[PATH_MAX];
    const ssize_t size = readlink(path.c_str(), target, sizeof(target));
    if (size < 0) return path;
    if (size == sizeof(target)) break;
    const absl::string_view text(target, static_cast<size_t>(size));
    path = absl::StartsWith(text, "/")
               ? std::string(text)
               : absl::StrCat(FolderOf(path), "/", text);
  }
  return absl::InvalidArgumentError(absl::StrCat(
      link, ": is a symbolic link that leads nowhere; name the file itself"));
}

}  // namespace

absl::StatusOr<AtomicFile> AtomicFile::Create(absl::string_view path,
                                              int64_t expected_bytes) {
  if (path.empty() || path.find('\0') != absl::string_view::npos) {
    return absl::InvalidArgumentError(absl::StrCat(
        "\"", path, "\": is no name of a file; name the file to be written"));
  }
  absl::StatusOr<std::string> followed = FollowLinks(path);
  if (!followed.ok()) return followed.status();
  AtomicFile file;
  file.path_ = *std::move(followed);
  file.partial_path_ = PartialPath(file.path_);
  file.expected_bytes_ = expected_bytes;
  struct stat old;
  const bool replaces = stat(file.path_.c_str(), &old) == 0;
  if (replaces && !S_ISREG(old.st_mode)) {
    return absl::InvalidArgumentError(absl::StrCat(
        file.path_, ": is no regular file and cannot be replaced by one"));
  }
  // What replaces a file is for nobody else's eyes before it is the file's
  // owner's.
  absl::Status status = file.OpenPartial(replaces ? 0600 : 0666);
  if (status.ok() && replaces) status = file.KeepOwnerAndMode(old);
  if (status.ok()) status = file.Reserve();
  if (!status.ok()) return status;
  file.buffer_.reserve(kBufferBytes);
  return file;
}

// Makes the partial file and locks it. Whoever meets it before it is locked
// takes it for one that a killed process left, and removes it.
absl::Status AtomicFile::OpenPartial(mode_t mode) {
  for (;;) {
    const int descriptor = open(partial_path_.c_str(),
                                O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (descriptor < 0 && errno != EEXIST) {
      return Error("cannot be created", errno);
    }
    if (descriptor < 0) {
      const absl::Status removed = RemoveStalePartial();
      if (!removed.ok()) return removed;
      continue;
    }
    const bool locked = flock(descriptor, LOCK_EX | LOCK_NB) == 0;
    if (!locked && errno != EWOULDBLOCK) {
      const int error = errno;
      unlink(partial_path_.c_str());
      close(descriptor);
      return Error("cannot be locked", error);
    }
    if (locked && Names(partial_path_, descriptor)) {
      descriptor_ = descriptor;
      return absl::OkStatus();
    }
    close(descriptor);
  }
}

// What a killed process left. Only its name goes: it may have others, and
// other owners. OK, too, if it is gone meanwhile.
absl::Status AtomicFile::RemoveStalePartial() const {
  struct stat found;
  if (lstat(partial_path_.c_str(), &found) != 0) {
    return errno == ENOENT ? absl::OkStatus()
                           : Error("cannot be looked at", errno);
  }
  if (!S_ISREG(found.st_mode)) {
    return absl::InvalidArgumentError(absl::StrCat(
        partial_path_, ": is ",
        S_ISLNK(found.st_mode) ? "a symbolic link" : "no regular file",
        ", and ", path_, " is first written under that name: remove it"));
  }
  constexpr int kFlags = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  int descriptor = open(partial_path_.c_str(), O_WRONLY | kFlags);
  if (descriptor < 0 && errno == EACCES) {
    descriptor = open(partial_path_.c_str(), O_RDONLY | kFlags);
  }
  if (descriptor < 0) {
    return errno == ENOENT ? absl::OkStatus()
                           : Error("cannot be opened", errno);
  }
  absl::Status status;
  if (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    status = errno == EWOULDBLOCK
                 ? absl::UnavailableError(absl::StrCat(
                       partial_path_,
                       ": another process is writing it; wait for that one"))
                 : Error("cannot be locked", errno);
  } else if (Names(partial_path_, descriptor) &&
             unlink(partial_path_.c_str()) != 0) {
    status = Error("cannot be removed", errno);
  }
  close(descriptor);
  return status;
}

absl::Status AtomicFile::KeepOwnerAndMode(const struct stat& old) const {
  struct stat own;
  if (fstat(descriptor_, &own) != 0) return Error("no status", errno);
  if ((own.st_uid != old.st_uid || own.st_gid != old.st_gid) &&
      fchown(descriptor_, old.st_uid, old.st_gid) != 0) {
    return absl::PermissionDeniedError(absl::StrCat(
        path_, ": belongs to user ", old.st_uid, " and group ", old.st_gid,
        ", and this process (user ", own.st_uid, ", group ", own.st_gid,
        ") cannot give them a file: ", strerror(errno),
        "; write to another name, or as that user"));
  }
  // After the owner: a change of owner takes bits away.
  if (fchmod(descriptor_, old.st_mode & 07777) != 0) {
    return Error("cannot have the permissions of the file it replaces", errno);
  }
  return absl::OkStatus();
}

absl::Status AtomicFile::Reserve() const {
  if (expected_bytes_ <= 0) return absl::OkStatus();
  if (ExceedsFileSizeLimit(expected_bytes_)) {
    return Error("has no room", EFBIG);
  }
  const FileSizeSignalHeld held;
  // Keeps the size: what is not written must not look like data.
  if (fallocate(descriptor_, FALLOC_FL_KEEP_SIZE, 0, expected_bytes_) != 0 &&
      IsFull(errno)) {
    return Error("has no room", errno);
  }
  return absl::OkStatus();
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept {
  *this = std::move(other);
}

AtomicFile& AtomicFile::operator=(AtomicFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(partial_path_, other.partial_path_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(expected_bytes_, other.expected_bytes_);
  std::swap(buffer_, other.buffer_);
  return *this;
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  // Before the lock goes, so that it is not another's file that is removed.
  if (Names(partial_path_, descriptor_)) unlink(partial_path_.c_str());
  close(descriptor_);
}

absl::Status AtomicFile::Error(absl::string_view what, int error) const {
  const std::string text =
      absl::StrCat(partial_path_, ": ", what, ": ", strerror(error));
  if (IsFull(error)) {
    return absl::ResourceExhaustedError(absl::StrCat(
        text, "; ", expected_bytes_, " bytes are wanted in ", FolderOf(path_),
        ", and ", path_, " is as it was: ",
        error == EFBIG ? "raise the limit of file sizes (ulimit -f), or write "
                         "to a file system that has such files"
                       : "make room and try again"));
  }
  if (error == ENOENT) {
    return absl::NotFoundError(
        absl::StrCat(text, "; make the folder ", FolderOf(path_), " first"));
  }
  return absl::UnavailableError(
      absl::StrCat(text, "; ", path_, " is as it was"));
}

absl::Status AtomicFile::Append(const void* data, int64_t bytes) {
  const char* from = static_cast<const char*>(data);
  if (buffer_.size() + static_cast<size_t>(bytes) > kBufferBytes) {
    absl::Status flushed = Flush();
    if (!flushed.ok()) return flushed;
    if (bytes > static_cast<int64_t>(kBufferBytes))
      return WriteAll(from, bytes);
  }
  buffer_.append(from, static_cast<size_t>(bytes));
  return absl::OkStatus();
}

absl::Status AtomicFile::Flush() {
  absl::Status status =
      WriteAll(buffer_.data(), static_cast<int64_t>(buffer_.size()));
  buffer_.clear();
  return status;
}

absl::Status AtomicFile::WriteAll(const char* data, int64_t bytes) {
  const FileSizeSignalHeld held;
  while (bytes > 0) {
    const ssize_t count = write(descriptor_, data, static_cast<size_t>(bytes));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Error("cannot be written", errno);
    data += count;
    bytes -= count;
  }
  return absl::OkStatus();
}

absl::Status AtomicFile::Commit() {
  absl::Status flushed = Flush();
  if (!flushed.ok()) return flushed;
  if (fsync(descriptor_) != 0) return Error("cannot be flushed", errno);
  if (!Names(partial_path_, descriptor_)) {
    return absl::UnavailableError(absl::StrCat(
        partial_path_, ": was removed or replaced while it was written; ",
        path_, " is as it was: try again"));
  }
  if (rename(partial_path_.c_str(), path_.c_str()) != 0) {
    return Error("cannot be renamed", errno);
  }
  close(std::exchange(descriptor_, -1));
  // The name, too, is on the disk only when the folder is.
  const int folder =
      open(FolderOf(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) {
    fsync(folder);
    close(folder);
  }
  return absl::OkStatus();
}

}  // namespace footprint
