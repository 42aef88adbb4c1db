// Files that are read as a whole and replaced in one step.
//
//   absl::StatusOr<std::string> text = ReadWholeFile(path);
//   if (!text.ok()) return text.status();
//   absl::Status status = ReplaceFile(path, Improve(*text), ToDisk::kFlush);
//
// A reader sees the old file or the new one, never a mixture. AtomicFile
// (atomic_file.h) writes the file, with its rules for links and permissions and
// its errors, except that this waits for another writer of the path.
//
// Thread-safe, since it keeps no state. Memory: the bytes of the file. Time:
// linear.

#ifndef FOOTPRINT_BASE_FILES_WHOLE_FILE_H_
#define FOOTPRINT_BASE_FILES_WHOLE_FILE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/atomic_file.h"

namespace footprint {

// Far above the size of any profile or threshold file. It keeps a wrong file
// from filling the memory.
constexpr int64_t kMostWholeFileBytes = int64_t{256} << 20;

// Reads the file. Errors name `path`, the reason and the next step. They are
// those of OpenRegularFile (regular_file.h), and InvalidArgument if the file is
// larger than `most_bytes`.
absl::StatusOr<std::string> ReadWholeFile(
    const std::string& path, int64_t most_bytes = kMostWholeFileBytes);

// Replaces the file, or creates it if it is missing.
absl::Status ReplaceFile(const std::string& path, absl::string_view bytes,
                         ToDisk to_disk);

// Writes to a path that a person gave a program for its output. ReplaceFile
// writes a regular file, and a path that does not exist yet. A device, a pipe
// or an open descriptor (/dev/null, /dev/stdout) is written directly.
absl::Status WriteOutputFile(const std::string& path, absl::string_view bytes,
                             ToDisk to_disk = ToDisk::kFlush);

// Returns the error that ReplaceFile would return now, so that a program can
// ask before a long run. A disk that becomes full later is not noticed. Leaves
// nothing behind.
absl::Status CheckReplaceable(const std::string& path);

// Returns the same for WriteOutputFile. It does not open devices and pipes.
absl::Status CheckOutputFile(const std::string& path);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_FILES_WHOLE_FILE_H_
