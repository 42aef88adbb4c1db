// Exclusive advisory locks (flock) on files and folders. A lock ends when its
// descriptor is closed or the process ends.
//
//   absl::StatusOr<FileLock> lock = FileLock::TryAcquire(workspace);
//   if (!lock.ok()) return lock.status();
//
// Thread-compatible: a lock has one owner. It belongs to a descriptor, so it
// also works between threads of one process. On file systems without locks
// (some network file systems) every caller succeeds. Memory: a file descriptor.

#ifndef FOOTPRINT_BASE_FILES_FILE_LOCK_H_
#define FOOTPRINT_BASE_FILES_FILE_LOCK_H_

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "footprint/base/files/file_descriptor.h"

namespace footprint {

// Says what LockFile does if another descriptor holds the lock.
enum class WhenLocked { kRefuse, kWait };

// Locks an open file and returns true. Returns false and sets errno if that
// fails: EWOULDBLOCK if another descriptor holds the lock and `when_locked` is
// kRefuse.
bool LockFile(int descriptor, WhenLocked when_locked);
// Does the same, but also returns true if the file system has no locks.
bool LockFileIfPossible(int descriptor, WhenLocked when_locked);

// Says whether IsNamed follows `path` if it is a symbolic link.
enum class Links { kFollow, kRefuse };

// Returns whether `path` still names the open file, which may have been
// replaced before it was locked.
bool IsNamed(const std::string& path, Links links, int descriptor);

class FileLock {
 public:
  // Locks an existing file or folder without changing it. Errors name `path`:
  // Unavailable if it is locked already; InvalidArgument if it is a pipe or a
  // device; otherwise the errors of FileError.
  static absl::StatusOr<FileLock> TryAcquire(const std::string& path);

  // Waits for the lock on the file of this path, which is created if it is
  // missing. Waits again if the file was replaced in the meantime. If the path
  // is a pipe, waits for a writer first. Returns the errors of FileError.
  static absl::StatusOr<FileLock> Acquire(const std::string& path);

 private:
  explicit FileLock(FileDescriptor file) : file_(std::move(file)) {}

  FileDescriptor file_;
};

}  // namespace footprint

#endif  // FOOTPRINT_BASE_FILES_FILE_LOCK_H_
