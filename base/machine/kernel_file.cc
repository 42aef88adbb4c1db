#include "footprint/base/machine/kernel_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "footprint/base/files/file_descriptor.h"
#include "footprint/base/files/file_error.h"

namespace footprint {

absl::StatusOr<std::string> ReadKernelFile(const std::string& path) {
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return FileError(errno, path, "cannot be read");
  std::string text;
  char piece[1 << 16];
  while (true) {
    const ssize_t size = read(file.get(), piece, sizeof(piece));
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return FileError(errno, path, "cannot be read");
    if (size == 0) return text;
    text.append(piece, static_cast<size_t>(size));
  }
}

}  // namespace footprint
