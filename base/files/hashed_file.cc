#include "footprint/base/files/hashed_file.h"

#include <cerrno>
#include <cstddef>
#include <utility>

#include "absl/strings/string_view.h"
#include "footprint/base/files/file_error.h"
#include "footprint/base/files/read_write.h"
#include "footprint/base/files/regular_file.h"
#include "footprint/base/files/sha256.h"

namespace footprint {
namespace {

constexpr size_t kPieceBytes = 65536;

}  // namespace

absl::StatusOr<HashedFile> OpenHashedFile(
    const std::string& path,
    const std::function<void(int64_t bytes)>& report_bytes) {
  absl::StatusOr<FileDescriptor> file = OpenRegularFile(path);
  if (!file.ok()) return file.status();
  HashedFile hashed;
  hashed.file = *std::move(file);
  Sha256 hash;
  std::string piece(kPieceBytes, '\0');
  while (true) {
    const int64_t size =
        ReadAt(hashed.file.get(), hashed.size_bytes,
               static_cast<int64_t>(piece.size()), piece.data());
    if (size < 0) return FileError(errno, path, "cannot be read");
    if (size == 0) break;
    hash.Add(absl::string_view(piece).substr(0, static_cast<size_t>(size)));
    hashed.size_bytes += size;
    if (report_bytes) report_bytes(hashed.size_bytes);
  }
  hashed.sha256 = hash.FinishHex();
  return hashed;
}

}  // namespace footprint
