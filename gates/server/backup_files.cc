#include "footprint/gates/server/backup_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/file_descriptor.h"
#include "footprint/base/files/file_error.h"
#include "footprint/base/files/file_lock.h"
#include "footprint/base/files/read_write.h"
#include "footprint/base/files/regular_file.h"

namespace footprint {
namespace {

constexpr mode_t kOwnerOnly = 0600;
constexpr int64_t kCopiedBytesAtOnce = 64 << 10;

// Returns the size of an open file at a moment at which nobody appends a line.
absl::StatusOr<int64_t> FindSize(const std::string& path, int descriptor) {
  // The lock is that of a second descriptor, and ends with it. If the file was
  // moved away meanwhile, nobody appends to it any more.
  const absl::StatusOr<FileDescriptor> locked = OpenRegularFile(path);
  if (locked.ok() && !LockFileIfPossible(locked->get(), WhenLocked::kWait)) {
    return FileError(errno, path, "cannot be locked");
  }
  struct stat about = {};
  if (fstat(descriptor, &about) != 0) {
    return FileError(errno, path, "cannot be read");
  }
  return about.st_size;
}

absl::Status CopyFile(const std::string& path, const std::string& copy_path) {
  const absl::StatusOr<FileDescriptor> file = OpenRegularFile(path);
  if (absl::IsNotFound(file.status())) return absl::OkStatus();
  if (!file.ok()) return file.status();
  const absl::StatusOr<int64_t> size = FindSize(path, file->get());
  if (!size.ok()) return size.status();
  const FileDescriptor copy(open(
      copy_path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kOwnerOnly));
  if (!copy.is_open()) return FileError(errno, copy_path, "cannot be made");
  std::string piece(static_cast<size_t>(kCopiedBytesAtOnce), '\0');
  for (int64_t at = 0; at < *size; at += kCopiedBytesAtOnce) {
    const int64_t piece_bytes = std::min(*size - at, kCopiedBytesAtOnce);
    const absl::Status read =
        ReadFully(file->get(), path, at, piece_bytes, piece.data());
    if (!read.ok()) return read;
    if (!WriteOn(copy.get(), piece.data(), piece_bytes)) {
      return FileError(errno, copy_path, "cannot be written");
    }
  }
  return fsync(copy.get()) == 0
             ? absl::OkStatus()
             : FileError(errno, copy_path, "cannot be written");
}

}  // namespace

absl::Status BackUpFiles(const std::vector<std::string>& paths,
                         const std::string& folder) {
  for (const std::string& path : paths) {
    const absl::Status copied = CopyFile(
        path, absl::StrCat(folder, "/", path.substr(path.rfind('/') + 1)));
    if (!copied.ok()) return copied;
  }
  return absl::OkStatus();
}

}  // namespace footprint
