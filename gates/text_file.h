// Small text files, read whole and replaced in one step.
//
//   absl::StatusOr<std::string> text = ReadTextFile(path);
//   absl::Status status = ReplaceTextFile(path, Improve(*text));
//
// A reader sees the old file or the new one, never half of one, and a write
// that fails leaves the old file and nothing else. A symbolic link stays one:
// the file that it leads to is replaced.
//
// Thread-safe: no state is kept. Memory: the text. Time: linear, and a flush to
// the disk for each replacement.

#ifndef FOOTPRINT_GATES_TEXT_FILE_H_
#define FOOTPRINT_GATES_TEXT_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace footprint {

// Errors name `path`, the reason and the way out: kNotFound; kPermissionDenied;
// kInvalidArgument if it is no regular file of at most 256 MiB; kInternal.
absl::StatusOr<std::string> ReadTextFile(const std::string& path);

// Creates the file if it is missing; keeps its permissions if not. Errors:
// kNotFound (no such folder), kPermissionDenied (also: read-only file system),
// kResourceExhausted (disk full), kInternal.
absl::Status ReplaceTextFile(const std::string& path, absl::string_view text);

// An advisory lock on a file or folder that exists, which is not changed; held
// until destruction or the end of the process. kUnavailable if it is held
// already; else as above.
class FileLock {
 public:
  static absl::StatusOr<FileLock> TryAcquire(const std::string& path);

  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock();

 private:
  explicit FileLock(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;
};

}  // namespace footprint

#endif  // FOOTPRINT_GATES_TEXT_FILE_H_
