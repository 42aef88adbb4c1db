// Files that are read as a whole and replaced in one step.
//
//   absl::StatusOr<std::string> text = ReadWholeFile(path);
//   if (!text.ok()) return text.status();
//   absl::Status status = ReplaceFile(path, Improve(*text), ToDisk::kFlush);
//
// A reader sees the old file or the new one, never a mixture. AtomicFile
// (atomic_file.h) writes the file; its rules for links and permissions and its
// errors apply. Unlike AtomicFile by default, these functions wait while
// another writer has the path.
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

// The default limit of ReadWholeFile. It is far above the size of any profile
// or threshold file, and keeps a wrong file from filling the memory.
constexpr int64_t kMostWholeFileBytes = int64_t{256} << 20;

// Reads the file. A file of /proc, whose size is 0, reads as empty: use
// kernel_file.h for it. Errors name `path`, the reason and the next step. They
// are those of OpenRegularFile (regular_file.h), those of FileError if the
// system cannot read the file, and InvalidArgument if the file is larger than
// `most_bytes`.
absl::StatusOr<std::string> ReadWholeFile(
    const std::string& path, int64_t most_bytes = kMostWholeFileBytes);

// Replaces the file, or creates it if it is missing.
absl::Status ReplaceFile(const std::string& path, absl::string_view bytes,
                         ToDisk to_disk);

// Writes to the output path that a person gave a program. Replaces a regular
// file, and creates one that does not exist yet, as ReplaceFile does. A device,
// a pipe or an open descriptor (/dev/null, /dev/stdout) is written directly.
absl::Status WriteOutputFile(const std::string& path, absl::string_view bytes,
                             ToDisk to_disk = ToDisk::kFlush);

// Returns the error that ReplaceFile would return now, so that a program can
// ask before a long run. It writes no bytes, so it may not notice a full disk.
// Waits for another writer as ReplaceFile does, and leaves nothing behind.
absl::Status CheckReplaceable(const std::string& path);

// Does the same for WriteOutputFile, without opening devices and pipes.
absl::Status CheckOutputFile(const std::string& path);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_FILES_WHOLE_FILE_H_
