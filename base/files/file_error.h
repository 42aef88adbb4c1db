// The system's errors about files, as statuses: the only table of the tree.
//
//   const int descriptor = open(path.c_str(), O_RDONLY);
//   if (descriptor < 0) return FileError(errno, path, "cannot be opened");
//
// NotFound: ENOENT, ENOTDIR. PermissionDenied: EACCES, EPERM, EROFS.
// InvalidArgument: no regular file or no name of one: EISDIR, ELOOP, ENXIO,
// ENAMETOOLONG, EINVAL. ResourceExhausted: ENOSPC, EDQUOT, EFBIG, ENOMEM,
// EMFILE, ENFILE. Unavailable: every other.
//
// Thread-safe. Pure: the status has copies of the texts. Memory: the text.

#ifndef FOOTPRINT_BASE_FILES_FILE_ERROR_H_
#define FOOTPRINT_BASE_FILES_FILE_ERROR_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace footprint {

// Its message is "`path`: `what`: the system's text; `advice`". Without
// `advice`, there is one that suits the code.
absl::Status FileError(int error, absl::string_view path,
                       absl::string_view what, absl::string_view advice = "");

}  // namespace footprint

#endif  // FOOTPRINT_BASE_FILES_FILE_ERROR_H_
