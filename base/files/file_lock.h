// Advisory locks on files and folders, held until the descriptor is closed or
// the process ends.
//
//   absl::StatusOr<FileLock> lock = FileLock::TryAcquire(workspace);
//   if (!lock.ok()) return lock.status();
//
// Thread-compatible: one owner. A lock is one descriptor's, so it parts threads
// as it parts processes. Where the file system has no locks, as some networks'
// have none, all have the FileLock. Memory: a file descriptor.

#ifndef FOOTPRINT_BASE_FILES_FILE_LOCK_H_
#define FOOTPRINT_BASE_FILES_FILE_LOCK_H_

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "footprint/base/files/file_descriptor.h"

namespace footprint {

enum class WhenLocked { kRefuse, kWait };

// Locks what is open. False with errno: EWOULDBLOCK if another has it.
bool LockFile(int descriptor, WhenLocked when_locked);
// The same, but true where the file system has no locks.
bool LockFileIfPossible(int descriptor, WhenLocked when_locked);

enum class Links { kFollow, kRefuse };

// Returns whether `path` is a name of what is open: what is locked may have
// been replaced meanwhile.
bool IsNamed(const std::string& path, Links links, int descriptor);

class FileLock {
 public:
  // Locks what exists, and does not change it. Errors name `path`: Unavailable
  // if it is held already; InvalidArgument if it is a pipe or a device; else
  // FileError's.
  static absl::StatusOr<FileLock> TryAcquire(const std::string& path);

  // Waits for the lock on the file of this path, which is made if it is
  // missing, and waits again if that was replaced meanwhile. FileError's.
  static absl::StatusOr<FileLock> Acquire(const std::string& path);

 private:
  explicit FileLock(FileDescriptor file) : file_(std::move(file)) {}

  FileDescriptor file_;
};

}  // namespace footprint

#endif  // FOOTPRINT_BASE_FILES_FILE_LOCK_H_
