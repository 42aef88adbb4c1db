#include "footprint/base/machine/kernel_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <memory>

#include "footprint/base/files/file_descriptor.h"
#include "footprint/base/files/file_error.h"

namespace footprint {

absl::StatusOr<std::string> ReadKernelFile(const std::string& path) {
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return FileError(errno, path, "cannot be read");
  std::string text;
  // The stack of a process may have no more than this.
  constexpr size_t kPieceBytes = size_t{1} << 16;
  const std::unique_ptr<char[]> piece(new char[kPieceBytes]);
  while (true) {
    const ssize_t size = read(file.get(), piece.get(), kPieceBytes);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return FileError(errno, path, "cannot be read");
    if (size == 0) return text;
    text.append(piece.get(), static_cast<size_t>(size));
  }
}

}  // namespace footprint
