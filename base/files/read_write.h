// Reads and writes completely: continues after interrupts and short transfers.
//
//   absl::Status status = ReadFully(file.get(), path, 0, 8, &length);
//   if (!status.ok()) return status;
//   if (!WriteOn(file.get(), bytes.data(), size)) {
//     return FileError(errno, path, "cannot be written");
//   }
//
// Thread-safe, unless two calls move one descriptor's position. Memory: none.
// The caller keeps the descriptor, which stays open.

#ifndef FOOTPRINT_BASE_FILES_READ_WRITE_H_
#define FOOTPRINT_BASE_FILES_READ_WRITE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace footprint {

// Reads `size_bytes` from `offset_bytes` on. Returns the number of bytes that
// were read, which is less only if the file ends, or -1, with errno, if the
// system refuses.
int64_t ReadAt(int descriptor, int64_t offset_bytes, int64_t size_bytes,
               void* destination);

// Does the same from the descriptor's position on. The file may be a pipe.
int64_t ReadOn(int descriptor, int64_t size_bytes, void* destination);

// Reads all of `size_bytes`. Returns DataLoss if the file ends earlier, and
// otherwise the errors of FileError. `path` is used in messages.
absl::Status ReadFully(int descriptor, absl::string_view path,
                       int64_t offset_bytes, int64_t size_bytes,
                       void* destination);

// Writes all bytes at `offset_bytes`. Returns false, with errno, if the system
// refuses; some bytes may then be written.
bool WriteAt(int descriptor, int64_t offset_bytes, const void* data,
             int64_t size_bytes);

// Does the same at the descriptor's position.
bool WriteOn(int descriptor, const void* data, int64_t size_bytes);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_FILES_READ_WRITE_H_
