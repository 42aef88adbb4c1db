#include "footprint/gates/deployments/tabular/csv_fields.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace footprint {
namespace tabular {
namespace {

constexpr size_t kBufferBytes = 32 << 10;
// The parser must see a byte-order mark whole, whatever a pipe gives first.
constexpr size_t kLeastBytes = 3;

absl::Status OpenError(int error, const std::string& path) {
  const std::string message =
      absl::StrCat(path, ": cannot be opened: ", std::strerror(error));
  if (error == ENOENT || error == ENOTDIR) {
    return absl::NotFoundError(absl::StrCat(message, "; check --data"));
  }
  if (error == EACCES || error == EPERM) {
    return absl::PermissionDeniedError(
        absl::StrCat(message, "; check its permissions"));
  }
  return absl::InternalError(message);
}

}  // namespace

CsvFields::CsvFields(char delimiter)
    : CsvParser(delimiter), buffer_(new char[kBufferBytes]) {}

CsvFields::~CsvFields() {
  if (descriptor_ >= 0) close(descriptor_);
}

absl::Status CsvFields::Open(const std::string& path) {
  descriptor_ = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) return OpenError(errno, path);
  return Begin(path);
}

absl::StatusOr<absl::string_view> CsvFields::NextBytes() {
  size_t size = 0;
  while (size < kLeastBytes) {
    const ssize_t count =
        read(descriptor_, buffer_.get() + size, kBufferBytes - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      return absl::InternalError(
          absl::StrCat("cannot be read further: ", std::strerror(errno)));
    }
    if (count == 0) break;
    size += static_cast<size_t>(count);
  }
  return absl::string_view(buffer_.get(), size);
}

}  // namespace tabular
}  // namespace footprint
