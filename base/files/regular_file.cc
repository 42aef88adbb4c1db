#include "footprint/base/files/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/files/read_at.h"

namespace footprint::lowmem_internal {
namespace {

constexpr int64_t kPieceBytes = 16 << 10;

absl::Status Refused(const std::string& path, int error) {
  const std::string text =
      absl::StrCat(path, ": cannot be opened: ", strerror(error));
  return error == ENOENT ? absl::NotFoundError(text)
                         : absl::UnavailableError(text);
}

}  // namespace

absl::StatusOr<int> OpenRegularFile(const std::string& path) {
  const int descriptor =
      open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (descriptor < 0) return Refused(path, errno);
  struct stat status;
  absl::Status opened;
  if (fstat(descriptor, &status) != 0) {
    opened = Refused(path, errno);
  } else if (!S_ISREG(status.st_mode)) {
    opened = absl::InvalidArgumentError(
        absl::StrCat(path, ": not a regular file; name the file itself"));
  } else if (fcntl(descriptor, F_SETFL, 0) != 0) {
    // Reads shall wait for the disk: queues take the flag for a wish not to.
    opened = Refused(path, errno);
  }
  if (opened.ok()) return descriptor;
  close(descriptor);
  return opened;
}

absl::StatusOr<std::string> ReadRegularFile(const std::string& path,
                                            int64_t most_bytes) {
  const absl::StatusOr<int> descriptor = OpenRegularFile(path);
  if (!descriptor.ok()) return descriptor.status();
  const absl::Cleanup close_it = [&] { close(*descriptor); };
  // Not a C++ stream: its locales would cost a small process a megabyte.
  std::string text;
  for (int64_t size = 0; size <= most_bytes;) {
    text.resize(static_cast<size_t>(size + kPieceBytes));
    const int64_t got = ReadAt(*descriptor, size, kPieceBytes, &text[size]);
    if (got < 0) {
      return absl::UnavailableError(
          absl::StrCat(path, ": cannot be read: ", strerror(errno)));
    }
    size += got;
    text.resize(static_cast<size_t>(size));
    if (got < kPieceBytes && size <= most_bytes) return text;
  }
  return absl::OutOfRangeError(
      absl::StrCat(path, ": larger than ", most_bytes, " bytes"));
}

}  // namespace footprint::lowmem_internal
