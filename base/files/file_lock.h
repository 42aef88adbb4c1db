// An advisory lock on a file or folder that exists, which is not changed; held
// until destruction or the end of the process.
//
//   absl::StatusOr<FileLock> lock = FileLock::TryAcquire(workspace);
//   if (!lock.ok()) return lock.status();
//
// Thread-compatible: one owner. Memory: a file descriptor.

#ifndef FOOTPRINT_BASE_FILES_FILE_LOCK_H_
#define FOOTPRINT_BASE_FILES_FILE_LOCK_H_

#include <string>

#include "absl/status/statusor.h"

namespace footprint {

class FileLock {
 public:
  // Errors name `path`: kUnavailable if it is held already; kNotFound;
  // kInternal if it cannot be opened or locked, or is a pipe or a device.
  static absl::StatusOr<FileLock> TryAcquire(const std::string& path);

  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock();

 private:
  explicit FileLock(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;
};

}  // namespace footprint

#endif  // FOOTPRINT_BASE_FILES_FILE_LOCK_H_
