// Converts the system's errors about files to statuses, so that an error has
// the same code everywhere.
//
//   const int descriptor = open(path.c_str(), O_RDONLY);
//   if (descriptor < 0) return FileError(errno, path, "cannot be opened");
//
// NotFound: ENOENT, ENOTDIR. PermissionDenied: EACCES, EPERM, EROFS.
// InvalidArgument, for a path that is not a regular file or not a valid name:
// EISDIR, ELOOP, ENXIO, ENAMETOOLONG, EINVAL. ResourceExhausted: ENOSPC,
// EDQUOT, EFBIG, ENOMEM, EMFILE, ENFILE. Unavailable: every other error.
//
// Thread-safe. The status has copies of the texts. Memory: the text.

#ifndef FOOTPRINT_BASE_FILES_FILE_ERROR_H_
#define FOOTPRINT_BASE_FILES_FILE_ERROR_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace footprint {

// Returns a status with the message "`path`: `what`: the system's text;
// `advice`". If `advice` is empty, the message has advice that suits the error.
absl::Status FileError(int error, absl::string_view path,
                       absl::string_view what, absl::string_view advice = "");

}  // namespace footprint

#endif  // FOOTPRINT_BASE_FILES_FILE_ERROR_H_
