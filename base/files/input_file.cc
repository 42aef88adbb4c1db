#include "footprint/base/files/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace footprint {
namespace tabular {
namespace {

absl::Status ReadError(int error, const std::string& path) {
  const std::string message =
      absl::StrCat(path, ": cannot be read: ", std::strerror(error));
  if (error == ENOENT || error == ENOTDIR) {
    return absl::NotFoundError(
        absl::StrCat(message, "; check the path, or make the file first"));
  }
  if (error == EACCES || error == EPERM) {
    return absl::PermissionDeniedError(
        absl::StrCat(message, "; check its permissions"));
  }
  return absl::InternalError(message);
}

}  // namespace

absl::StatusOr<InputFile> InputFile::Open(const std::string& path) {
  // Not to be held up by a pipe of that name.
  InputFile file(path, open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.descriptor_ < 0) return ReadError(errno, path);
  struct stat facts;
  if (fstat(file.descriptor_, &facts) != 0) return ReadError(errno, path);
  if (!S_ISREG(facts.st_mode)) {
    return absl::InternalError(absl::StrCat(path, ": is not a regular file"));
  }
  file.size_bytes_ = static_cast<uint64_t>(facts.st_size);
  return file;
}

InputFile::~InputFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

absl::Status InputFile::ReadExactly(void* bytes, size_t count) {
  char* next = static_cast<char*>(bytes);
  while (count > 0) {
    const ssize_t got = read(descriptor_, next, count);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ReadError(errno, path_);
    if (got == 0) {
      return absl::DataLossError(absl::StrCat(
          path_, ": ends ", count, " bytes too early; write the file again"));
    }
    next += got;
    count -= static_cast<size_t>(got);
  }
  return absl::OkStatus();
}

}  // namespace tabular
}  // namespace footprint
