#include "footprint/base/files/atomic_file.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "footprint/base/files/file_error.h"
#include "footprint/base/files/fingerprint.h"
#include "footprint/base/files/read_write.h"

namespace footprint {
namespace {

constexpr size_t kBufferBytes = 32 * 1024;

std::string FindFolder(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// Returns the partial file's path. A stale partial file is removed without
// asking, so its name is one that no user chooses. A name that is too long to
// be extended, but that a file may have, is cut.
std::string PartialPath(const std::string& path) {
  constexpr size_t kLongestName = NAME_MAX - 64;
  const size_t begin = path.rfind('/') + 1;  // 0 without a folder
  const size_t size = path.size() - begin;
  std::string name = path.substr(begin);
  if (size > kLongestName && size <= NAME_MAX) {
    const uint64_t whole = Fingerprint(name.data(), static_cast<int64_t>(size));
    name = absl::StrCat(name.substr(0, kLongestName), "-", absl::Hex(whole));
  }
  return absl::StrCat(path.substr(0, begin), ".", name, ".footprint-partial");
}

bool IsFull(int error) {
  return error == ENOSPC || error == EDQUOT || error == EFBIG;
}

// Returns the most bytes that a file of this process may have; below zero: no
// limit.
int64_t FileSizeLimit() {
  struct rlimit limit;
  const bool limited = getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
                       limit.rlim_cur != RLIM_INFINITY &&
                       limit.rlim_cur <= uint64_t{INT64_MAX};
  return limited ? static_cast<int64_t>(limit.rlim_cur) : -1;
}

// Beyond the limit of file sizes the system refuses a write and also sends a
// signal that ends the program. While this object lives, the thread gets only
// the error.
class FileSizeSignalHeld {
 public:
  FileSizeSignalHeld() : is_limited_(FileSizeLimit() >= 0) {
    if (!is_limited_) return;
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGXFSZ) == 1;
    sigemptyset(&signal_);
    sigaddset(&signal_, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &signal_, &before_);
  }
  ~FileSizeSignalHeld() {
    if (!is_limited_) return;
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
  const bool is_limited_;
  sigset_t signal_;
  sigset_t before_;
  bool was_pending_ = false;
};

// Returns the descriptor of this process that `path` names, such as
// /dev/stdout, or -1.
int OwnDescriptor(absl::string_view path) {
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  if (!absl::ConsumePrefix(&path, "/dev/fd/") &&
      !absl::ConsumePrefix(&path, "/proc/self/fd/")) {
    return -1;
  }
  int descriptor = -1;
  return absl::SimpleAtoi(path, &descriptor) && descriptor >= 0 ? descriptor
                                                                : -1;
}

// Returns the path where the links end: a file, or a name for a new one.
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
               : absl::StrCat(FindFolder(path), "/", text);
  }
  return absl::InvalidArgumentError(absl::StrCat(
      link, ": is a symbolic link that leads nowhere; name the file itself"));
}

}  // namespace

absl::StatusOr<AtomicFile> AtomicFile::Create(
    absl::string_view path, const AtomicFileOptions& options) {
  if (path.empty() || path.find('\0') != absl::string_view::npos) {
    return absl::InvalidArgumentError(absl::StrCat(
        "\"", path, "\": is no name of a file; name the file to be written"));
  }
  AtomicFile file;
  file.expected_bytes_ = options.expected_bytes;
  file.to_disk_ = options.to_disk;
  // This check comes before FollowLinks, which cannot follow links to open
  // pipes.
  struct stat found;
  const std::string name(path);
  // A file that `path` names by a descriptor is written at the descriptor's
  // position, since other processes write there, too.
  const bool is_special =
      OwnDescriptor(name) >= 0 ||
      (stat(name.c_str(), &found) == 0 && !S_ISREG(found.st_mode));
  absl::Status status;
  if (!is_special) {
    status = file.OpenBeside(path, options);
  } else if (options.special_files == SpecialFiles::kWriteAsTheyAre) {
    status = file.OpenSpecial(name);
  } else {
    status = absl::InvalidArgumentError(absl::StrCat(
        path,
        ": is not a regular file and cannot be replaced by one; name a "
        "file to write"));
  }
  if (!status.ok()) return status;
  return file;
}

absl::Status AtomicFile::OpenSpecial(const std::string& path) {
  path_ = path;
  to_disk_ = ToDisk::kNoFsync;
  const int own = OwnDescriptor(path);
  file_ = FileDescriptor(
      own >= 0 ? fcntl(own, F_DUPFD_CLOEXEC, 0)
               : open(path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC));
  return file_.is_open() ? absl::OkStatus() : Error(errno, "cannot be opened");
}

absl::Status AtomicFile::OpenBeside(absl::string_view path,
                                    const AtomicFileOptions& options) {
  absl::StatusOr<std::string> followed = FollowLinks(path);
  if (!followed.ok()) return followed.status();
  path_ = *std::move(followed);
  partial_path_ = PartialPath(path_);
  struct stat old;
  const bool replaces = stat(path_.c_str(), &old) == 0;
  absl::Status status = replaces ? RefuseReadOnly(old) : absl::OkStatus();
  // A file that replaces another must not be readable by other users before it
  // has the other's owner.
  const mode_t mode = replaces ? 0600 : 0666;
  if (status.ok()) status = OpenPartial(mode, options.when_locked);
  if (status.ok() && replaces) status = KeepOwnerAndMode(old);
  return status.ok() ? Reserve() : status;
}

absl::Status AtomicFile::RefuseReadOnly(const struct stat& old) const {
  // Root could write it, but against the owner's intention.
  if ((old.st_mode & 0222) == 0) return Error(EACCES, "is marked read-only");
  if (eaccess(path_.c_str(), W_OK) != 0) {
    return Error(errno, "cannot be written");
  }
  return absl::OkStatus();
}

// Makes the partial file and locks it. A process that finds the file before it
// is locked treats it as left by a killed process and removes it.
absl::Status AtomicFile::OpenPartial(mode_t mode, WhenLocked when_locked) {
  for (;;) {
    FileDescriptor partial(open(partial_path_.c_str(),
                                O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
    if (!partial.is_open() && errno != EEXIST) {
      return Error(errno, "cannot be created");
    }
    if (!partial.is_open()) {
      const absl::Status removed = RemoveStalePartial(when_locked);
      if (!removed.ok()) return removed;
      continue;
    }
    const bool locked = LockFileIfPossible(partial.get(), WhenLocked::kRefuse);
    if (!locked && errno != EWOULDBLOCK) {
      const int error = errno;
      unlink(partial_path_.c_str());
      return Error(error, "cannot be locked");
    }
    if (locked && IsNamed(partial_path_, Links::kRefuse, partial.get())) {
      file_ = std::move(partial);
      return absl::OkStatus();
    }
  }
}

// Removes the partial file that a killed process left. Removes only this name,
// since the file may have other names and owners. Returns ok also if it has
// disappeared.
absl::Status AtomicFile::RemoveStalePartial(WhenLocked when_locked) const {
  struct stat found;
  if (lstat(partial_path_.c_str(), &found) != 0) {
    return errno == ENOENT ? absl::OkStatus()
                           : Error(errno, "cannot be looked at");
  }
  if (!S_ISREG(found.st_mode)) {
    return absl::InvalidArgumentError(absl::StrCat(
        partial_path_, ": is ",
        S_ISLNK(found.st_mode) ? "a symbolic link" : "no regular file",
        ", and ", path_, " is first written under that name: remove it"));
  }
  constexpr int kFlags = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  FileDescriptor stale(open(partial_path_.c_str(), O_WRONLY | kFlags));
  // The file may refuse to be opened for writing; the lock needs only reading.
  if (!stale.is_open()) {
    stale = FileDescriptor(open(partial_path_.c_str(), O_RDONLY | kFlags));
  }
  if (!stale.is_open()) {
    return errno == ENOENT ? absl::OkStatus()
                           : Error(errno, "cannot be opened");
  }
  if (!LockFileIfPossible(stale.get(), when_locked)) {
    return errno == EWOULDBLOCK
               ? absl::UnavailableError(absl::StrCat(
                     partial_path_,
                     ": another process is writing it; wait for that one"))
               : Error(errno, "cannot be locked");
  }
  if (IsNamed(partial_path_, Links::kRefuse, stale.get()) &&
      unlink(partial_path_.c_str()) != 0) {
    return Error(errno, "cannot be removed");
  }
  return absl::OkStatus();
}

absl::Status AtomicFile::KeepOwnerAndMode(const struct stat& old) const {
  struct stat own;
  if (fstat(file_.get(), &own) != 0) return Error(errno, "no status");
  if ((own.st_uid != old.st_uid || own.st_gid != old.st_gid) &&
      fchown(file_.get(), old.st_uid, old.st_gid) != 0) {
    return absl::PermissionDeniedError(absl::StrCat(
        path_, ": belongs to user ", old.st_uid, " and group ", old.st_gid,
        ", and this process (user ", own.st_uid, ", group ", own.st_gid,
        ") cannot give them a file: ", strerror(errno),
        "; write to another name, or as that user"));
  }
  // This comes after the owner, since a change of owner clears bits.
  if (fchmod(file_.get(), old.st_mode & 07777) != 0) {
    return Error(errno, "cannot have the permissions of the file it replaces");
  }
  return absl::OkStatus();
}

absl::Status AtomicFile::Reserve() const {
  if (expected_bytes_ <= 0) return absl::OkStatus();
  const int64_t limit = FileSizeLimit();
  if (limit >= 0 && expected_bytes_ > limit) return Error(EFBIG, "has no room");
  const FileSizeSignalHeld held;
  // The size stays 0, since unwritten bytes must not look like data.
  if (fallocate(file_.get(), FALLOC_FL_KEEP_SIZE, 0, expected_bytes_) != 0 &&
      IsFull(errno)) {
    return Error(errno, "has no room");
  }
  return absl::OkStatus();
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept {
  *this = std::move(other);
}

AtomicFile& AtomicFile::operator=(AtomicFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(partial_path_, other.partial_path_);
  std::swap(file_, other.file_);
  std::swap(expected_bytes_, other.expected_bytes_);
  std::swap(appended_bytes_, other.appended_bytes_);
  std::swap(to_disk_, other.to_disk_);
  std::swap(buffer_, other.buffer_);
  std::swap(buffered_bytes_, other.buffered_bytes_);
  std::swap(failure_, other.failure_);
  return *this;
}

AtomicFile::~AtomicFile() {
  if (!file_.is_open() || partial_path_.empty()) return;
  // This comes before the lock is released, so that it never removes another
  // process's file.
  if (IsNamed(partial_path_, Links::kRefuse, file_.get())) {
    unlink(partial_path_.c_str());
  }
}

// The error happened to the partial file, but the message names the user's
// path.
absl::Status AtomicFile::Error(int error, absl::string_view what) const {
  if (partial_path_.empty()) return FileError(error, path_, what);
  if (error == ENOENT || error == ENOTDIR) {
    return FileError(
        error, path_, what,
        absl::StrCat("make the folder ", FindFolder(path_), " first"));
  }
  if (!IsFull(error)) return FileError(error, path_, what);
  return FileError(
      error, path_, what,
      absl::StrCat(std::max(expected_bytes_, appended_bytes_),
                   " bytes are wanted in ", FindFolder(path_),
                   ", and the old file is as it was: ",
                   error == EFBIG
                       ? "raise the limit of file sizes (ulimit -f), or write "
                         "to a file system that has such files"
                       : "free disk space and run again"));
}

absl::Status AtomicFile::Append(absl::string_view bytes) {
  if (bytes.size() > kBufferBytes - buffered_bytes_) Flush();
  if (bytes.size() > kBufferBytes) {
    WriteThrough(bytes);
    return failure_;
  }
  if (buffer_ == nullptr) buffer_.reset(new char[kBufferBytes]);
  std::memcpy(buffer_.get() + buffered_bytes_, bytes.data(), bytes.size());
  buffered_bytes_ += bytes.size();
  return failure_;
}

void AtomicFile::Flush() {
  WriteThrough({buffer_.get(), buffered_bytes_});
  buffered_bytes_ = 0;
}

void AtomicFile::WriteThrough(absl::string_view bytes) {
  if (!failure_.ok() || bytes.empty()) return;
  appended_bytes_ += static_cast<int64_t>(bytes.size());
  const FileSizeSignalHeld held;
  if (!WriteOn(file_.get(), bytes.data(), static_cast<int64_t>(bytes.size()))) {
    failure_ = Error(errno, "cannot be written");
  }
}

absl::Status AtomicFile::Commit() {
  Flush();
  if (failure_.ok()) failure_ = ToTheDisk();
  if (failure_.ok() && !partial_path_.empty()) failure_ = Rename();
  return failure_;
}

absl::Status AtomicFile::ToTheDisk() const {
  if (to_disk_ == ToDisk::kFlush) {
    return fsync(file_.get()) == 0 ? absl::OkStatus()
                                   : Error(errno, "cannot be flushed");
  }
  // Some file systems report a full disk only when a descriptor is closed. This
  // closes a copy, since the descriptor itself holds the lock.
  const int other = dup(file_.get());
  return other >= 0 && close(other) == 0 ? absl::OkStatus()
                                         : Error(errno, "cannot be written");
}

absl::Status AtomicFile::Rename() {
  if (!IsNamed(partial_path_, Links::kRefuse, file_.get())) {
    return absl::UnavailableError(absl::StrCat(
        partial_path_, ": was removed or replaced while it was written; ",
        path_, " is as it was: try again"));
  }
  if (rename(partial_path_.c_str(), path_.c_str()) != 0) {
    return Error(errno, "cannot be replaced");
  }
  file_ = FileDescriptor();
  if (to_disk_ == ToDisk::kNoFsync) return absl::OkStatus();
  // The new name is on the disk only after the folder is.
  const FileDescriptor folder(
      open(FindFolder(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.is_open()) fsync(folder.get());
  return absl::OkStatus();
}

}  // namespace footprint
