// Opens files that hold bytes, and waits for nothing else.
//
//   absl::StatusOr<int> descriptor =
//       footprint::lowmem_internal::OpenRegularFile("config.json");
//
// A pipe under the name of a weight file would make an ordinary open wait for
// whoever writes to it, which may be nobody.
//
// Thread-safe. Memory: what is returned.
//
// NotFound: no such file. InvalidArgument: a folder, pipe, socket or device.
// Unavailable: the system refused. The text begins with the path.

#ifndef FOOTPRINT_BASE_FILES_REGULAR_FILE_H_
#define FOOTPRINT_BASE_FILES_REGULAR_FILE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace footprint::lowmem_internal {

// A descriptor for reading, which is the caller's to close.
absl::StatusOr<int> OpenRegularFile(const std::string& path);

// All bytes of a small file; OutOfRange if there are more than `most_bytes`.
absl::StatusOr<std::string> ReadRegularFile(const std::string& path,
                                            int64_t most_bytes);

}  // namespace footprint::lowmem_internal

#endif  // FOOTPRINT_BASE_FILES_REGULAR_FILE_H_
