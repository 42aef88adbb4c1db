// Opens files that hold bytes, and waits for nothing else.
//
//   absl::StatusOr<FileDescriptor> file = OpenRegularFile("config.json");
//
// A pipe under the name of a weight file would make an ordinary open wait for
// whoever writes to it, which may be nobody.
//
// Thread-safe. The caller owns the descriptor. Memory: that alone.

#ifndef FOOTPRINT_BASE_FILES_REGULAR_FILE_H_
#define FOOTPRINT_BASE_FILES_REGULAR_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "footprint/base/files/file_descriptor.h"

namespace footprint {

// Opens a regular file for reading. InvalidArgument: a folder, pipe, socket or
// device; else FileError's, such as NotFound and PermissionDenied. The text
// begins with the path.
absl::StatusOr<FileDescriptor> OpenRegularFile(const std::string& path);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_FILES_REGULAR_FILE_H_
