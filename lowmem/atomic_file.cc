#include "footprint/lowmem/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace footprint {
namespace {

constexpr size_t kBufferBytes = 64 * 1024;

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

bool IsFull(int error) {
  return error == ENOSPC || error == EDQUOT || error == EFBIG;
}

// Opens the partial file and locks it; whoever held it before may have renamed
// it meanwhile, and then it is no longer the partial one. -1 with errno.
int OpenLocked(const std::string& partial_path) {
  for (;;) {
    const int descriptor =
        open(partial_path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor < 0) return -1;
    struct stat opened, named;
    const bool locked = flock(descriptor, LOCK_EX | LOCK_NB) == 0;
    const int error = errno;
    if (locked && fstat(descriptor, &opened) == 0 &&
        stat(partial_path.c_str(), &named) == 0 &&
        opened.st_ino == named.st_ino && opened.st_dev == named.st_dev) {
      return descriptor;
    }
    close(descriptor);
    if (!locked) {
      errno = error;
      return -1;
    }
  }
}

}  // namespace

absl::StatusOr<AtomicFile> AtomicFile::Create(absl::string_view path,
                                              int64_t expected_bytes) {
  AtomicFile file;
  file.path_ = std::string(path);
  file.partial_path_ = absl::StrCat(path, ".partial");
  file.expected_bytes_ = expected_bytes;
  struct stat status;
  if (stat(file.path_.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    return absl::InvalidArgumentError(absl::StrCat(
        file.path_, ": is no regular file and cannot be replaced by one"));
  }
  file.descriptor_ = OpenLocked(file.partial_path_);
  if (file.descriptor_ < 0) {
    if (errno == EWOULDBLOCK) {
      return absl::UnavailableError(
          absl::StrCat(file.partial_path_,
                       ": another process is writing it; wait for that one"));
    }
    return file.Error("cannot be created", errno);
  }
  if (ftruncate(file.descriptor_, 0) != 0) {
    return file.Error("cannot be emptied", errno);
  }
  // Keeps the size: what is not written must not look like data.
  if (expected_bytes > 0 &&
      fallocate(file.descriptor_, FALLOC_FL_KEEP_SIZE, 0, expected_bytes) !=
          0 &&
      IsFull(errno)) {
    return file.Error("has no room", errno);
  }
  file.buffer_.reserve(kBufferBytes);
  return file;
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
  unlink(partial_path_.c_str());
  close(descriptor_);
}

absl::Status AtomicFile::Error(absl::string_view what, int error) const {
  const std::string text =
      absl::StrCat(partial_path_, ": ", what, ": ", strerror(error));
  if (IsFull(error)) {
    return absl::ResourceExhaustedError(absl::StrCat(
        text, "; ", expected_bytes_, " bytes are wanted in ", FolderOf(path_),
        ", and ", path_, " is as it was: make room and try again"));
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
