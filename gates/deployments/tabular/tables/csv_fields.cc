#include "footprint/gates/deployments/tabular/tables/csv_fields.h"

#include <fcntl.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "footprint/base/files/file_error.h"
#include "footprint/base/files/read_write.h"

namespace footprint {
namespace tabular {
namespace {

constexpr size_t kBufferBytes = 32 << 10;

}  // namespace

CsvFields::CsvFields(char delimiter)
    : CsvParser(delimiter), buffer_(new char[kBufferBytes]) {}

absl::Status CsvFields::Open(const std::string& path) {
  file_ = FileDescriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file_.is_open()) return FileError(errno, path, "cannot be opened");
  return Begin(path);
}

absl::StatusOr<absl::string_view> CsvFields::NextBytes() {
  const int64_t count = ReadOn(file_.get(), kBufferBytes, buffer_.get());
  if (count < 0) return FileError(errno, "the text", "cannot be read further");
  return absl::string_view(buffer_.get(), static_cast<size_t>(count));
}

}  // namespace tabular
}  // namespace footprint
