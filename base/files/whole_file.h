// Files that are read whole and replaced in one step.
//
//   absl::StatusOr<std::string> text = ReadWholeFile(path);
//   if (!text.ok()) return text.status();
//   absl::Status status = ReplaceFile(path, Improve(*text), ToDisk::kFlush);
//
// A reader sees the old file or the new one, never half of one, and a write
// that fails leaves the old file and nothing else. A symbolic link stays one:
// the file that it leads to is replaced, and keeps its permissions. What its
// owner made read-only, or what is no regular file, is left alone.
//
// Thread-safe: no state is kept. Two writers of one path leave the file of one
// of both, whole. Memory: the bytes of the file. Time: linear.

#ifndef FOOTPRINT_BASE_FILES_WHOLE_FILE_H_
#define FOOTPRINT_BASE_FILES_WHOLE_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace footprint {

// Errors name `path`, the reason and the way out: kNotFound; kPermissionDenied;
// kInvalidArgument if it is no regular file of at most 256 MiB; kInternal.
absl::StatusOr<std::string> ReadWholeFile(const std::string& path);

// Whether the file must outlast a loss of power, which takes milliseconds, or
// can be made again.
enum class ToDisk { kFlush, kAtLeisure };

// Creates the file if it is missing. Errors: kNotFound (no such folder),
// kPermissionDenied (also: a read-only file or file system),
// kResourceExhausted (disk full), kInvalidArgument (a folder or a device),
// kInternal.
absl::Status ReplaceFile(const std::string& path, absl::string_view bytes,
                         ToDisk to_disk);

// Whether ReplaceFile has a chance, to be asked before long work: the same
// errors, except of a disk that is full only later. Leaves nothing behind.
absl::Status CheckReplaceable(const std::string& path);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_FILES_WHOLE_FILE_H_
