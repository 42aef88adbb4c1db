// Files that are read whole and replaced in one step.
//
//   absl::StatusOr<std::string> text = ReadWholeFile(path);
//   if (!text.ok()) return text.status();
//   absl::Status status = ReplaceFile(path, Improve(*text), ToDisk::kFlush);
//
// A reader sees the old file or the new one, never half of one. Writing is
// AtomicFile's (atomic_file.h), links, permissions and errors too, except that
// it waits for another writer of the path.
//
// Thread-safe: no state is kept. Memory: the bytes of the file. Time: linear.

#ifndef FOOTPRINT_BASE_FILES_WHOLE_FILE_H_
#define FOOTPRINT_BASE_FILES_WHOLE_FILE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/files/atomic_file.h"

namespace footprint {

// Far above any profile or threshold; keeps a foreign file from filling the
// memory.
constexpr int64_t kMostWholeFileBytes = int64_t{256} << 20;

// Errors name `path`, the reason and the way out: those of OpenRegularFile
// (regular_file.h); InvalidArgument also if it is larger than `most_bytes`.
absl::StatusOr<std::string> ReadWholeFile(
    const std::string& path, int64_t most_bytes = kMostWholeFileBytes);

// Creates the file if it is missing.
absl::Status ReplaceFile(const std::string& path, absl::string_view bytes,
                         ToDisk to_disk);

// Writes to a path that a person gave a program for its output. A regular file,
// or a path where nothing is, is written as by ReplaceFile. A device, a pipe or
// an open descriptor (/dev/null, /dev/stdout) is written as it is.
absl::Status WriteOutputFile(const std::string& path, absl::string_view bytes,
                             ToDisk to_disk = ToDisk::kFlush);

// Returns whether ReplaceFile has a chance, to be asked before long work: the
// same errors, except of a disk that is full only later. Leaves nothing behind.
absl::Status CheckReplaceable(const std::string& path);

// Returns the same for WriteOutputFile. It does not open devices and pipes.
absl::Status CheckOutputFile(const std::string& path);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_FILES_WHOLE_FILE_H_
