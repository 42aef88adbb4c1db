// Reads and writes until all is done: again after interrupts and short ones.
//
//   absl::Status status = ReadFully(file.get(), path, 0, 8, &length);
//   if (!status.ok()) return status;
//   if (!WriteOn(file.get(), bytes.data(), size)) {
//     return FileError(errno, path, "cannot be written");
//   }
//
// Thread-safe, except for two that move one descriptor's position. Memory:
// none. The descriptor stays the caller's, and open.

#ifndef FOOTPRINT_BASE_FILES_READ_WRITE_H_
#define FOOTPRINT_BASE_FILES_READ_WRITE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace footprint {

// The bytes read from `offset_bytes` on: fewer than `size_bytes` only where the
// file ends. -1: the system refused, and errno says why.
int64_t ReadAt(int descriptor, int64_t offset_bytes, int64_t size_bytes,
               void* destination);

// The same from where the descriptor stands, also of a pipe.
int64_t ReadOn(int descriptor, int64_t size_bytes, void* destination);

// All of `size_bytes`. DataLoss: the file ends before; else FileError's. `path`
// is for messages.
absl::Status ReadFully(int descriptor, absl::string_view path,
                       int64_t offset_bytes, int64_t size_bytes,
                       void* destination);

// Returns false if the system refused, and errno says why; some may be written.
bool WriteAt(int descriptor, int64_t offset_bytes, const void* data,
             int64_t size_bytes);

// The same to where the descriptor stands.
bool WriteOn(int descriptor, const void* data, int64_t size_bytes);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_FILES_READ_WRITE_H_
