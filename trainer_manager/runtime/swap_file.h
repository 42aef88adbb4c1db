// Writes pieces of memory to an unlinked temporary file, reads them back and
// checks them.
//
//   auto file = footprint::SwapFile::Create("/var/tmp", {0, 4096}, 8192);
//   absl::Status status = (*file)->Write(/*piece=*/1, data, size_bytes);
//   status = (*file)->Read(1, data, size_bytes);
//
// The whole file is reserved when it is created, so that a full disk is known
// before anything relies on it. It has no name and is gone with this object,
// also if the program is killed. Reads and writes go through the system's page
// cache, by pread and pwrite: no page of the file is mapped into the program.
//
// Owns the file. Thread-compatible. Memory: 16 bytes a piece. Time: that of the
// disk, and a nanosecond for the fingerprint of every eight bytes that are
// written or read.

#ifndef FOOTPRINT_TRAINER_MANAGER_RUNTIME_SWAP_FILE_H_
#define FOOTPRINT_TRAINER_MANAGER_RUNTIME_SWAP_FILE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "footprint/base/files/file_descriptor.h"

namespace footprint {

class SwapFile {
 public:
  // Creates a file of `size_bytes` in `folder`, with pieces that begin at
  // `offsets_bytes`. Returns ResourceExhausted if the disk is full, or if the
  // file is larger than the process may make one. Other errors are the system's
  // for the folder, such as NotFound or PermissionDenied.
  static absl::StatusOr<std::unique_ptr<SwapFile>> Create(
      const std::string& folder, const std::vector<int64_t>& offsets_bytes,
      int64_t size_bytes);

  // Writes a piece, which must exist. Errors are those of FileError
  // (//base/files:file_error).
  absl::Status Write(size_t piece, const void* data, int64_t size_bytes);
  // Reads a piece, with the same errors. Returns DataLoss if the bytes are not
  // those that were written, if the piece was never written, or if the file
  // ends before them.
  absl::Status Read(size_t piece, void* data, int64_t size_bytes) const;

 private:
  struct Piece {
    int64_t offset_bytes = 0;
    uint64_t fingerprint = 0;
  };

  explicit SwapFile(FileDescriptor file) : file_(std::move(file)) {}

  const FileDescriptor file_;
  std::vector<Piece> pieces_;
};

}  // namespace footprint

#endif  // FOOTPRINT_TRAINER_MANAGER_RUNTIME_SWAP_FILE_H_
