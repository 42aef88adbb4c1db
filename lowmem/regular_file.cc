#include "footprint/lowmem/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace footprint::lowmem_internal {
namespace {

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

}  // namespace footprint::lowmem_internal
