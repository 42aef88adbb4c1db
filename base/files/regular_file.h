// Opens regular files only, so that opening never waits.
//
//   absl::StatusOr<FileDescriptor> file = OpenRegularFile("config.json");
//
// If a pipe had the name of a weight file, an ordinary open would wait for a
// writer, which may never come.
//
// Thread-safe. The caller owns the descriptor. Memory: the descriptor.

#ifndef FOOTPRINT_BASE_FILES_REGULAR_FILE_H_
#define FOOTPRINT_BASE_FILES_REGULAR_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "footprint/base/files/file_descriptor.h"

namespace footprint {

// Opens a regular file for reading. Returns InvalidArgument for a folder, pipe,
// socket or device; otherwise the errors of FileError, such as NotFound and
// PermissionDenied. The message begins with the path.
absl::StatusOr<FileDescriptor> OpenRegularFile(const std::string& path);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_FILES_REGULAR_FILE_H_
