// Opens a file and computes the SHA-256 of its bytes.
//
//   absl::StatusOr<HashedFile> file = OpenHashedFile("model.bundle");
//   if (!file.ok()) return file.status();
//   if (file->sha256 != expected) return Refuse(file->sha256);
//
// The file stays open, so that the caller reads what was hashed even if the
// name gets another file. It is not locked: whoever writes to it changes what
// the caller reads.
//
// Thread-safe. The caller owns the descriptor. Memory: 64 KiB. Time: some 4
// seconds for each GB. Errors: those of OpenRegularFile (regular_file.h) and
// FileError.

#ifndef FOOTPRINT_BASE_FILES_HASHED_FILE_H_
#define FOOTPRINT_BASE_FILES_HASHED_FILE_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "footprint/base/files/file_descriptor.h"

namespace footprint {

struct HashedFile {
  FileDescriptor file;
  int64_t size_bytes = 0;
  // 64 hexadecimal digits in lower case.
  std::string sha256;
};

// Calls `report_bytes`, unless it is empty, with the bytes that were read so
// far.
absl::StatusOr<HashedFile> OpenHashedFile(
    const std::string& path,
    const std::function<void(int64_t bytes)>& report_bytes = {});

}  // namespace footprint

#endif  // FOOTPRINT_BASE_FILES_HASHED_FILE_H_
