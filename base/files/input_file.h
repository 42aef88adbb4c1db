// A file open for reading, with errors that name it.
//
//   absl::StatusOr<InputFile> file = InputFile::Open("prices.table");
//   if (!file.ok()) return file.status();
//   absl::Status status = file->ReadExactly(header, sizeof(header));
//
// Owns the descriptor. Thread-compatible. Memory: none beyond the path.
//
// Errors: kNotFound: no such file; kPermissionDenied: it must not be read;
// kInternal: it is no regular file, or the system failed; kDataLoss: it ends
// before what was asked for.

#ifndef FOOTPRINT_BASE_FILES_INPUT_FILE_H_
#define FOOTPRINT_BASE_FILES_INPUT_FILE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace footprint {
namespace tabular {

class InputFile {
 public:
  static absl::StatusOr<InputFile> Open(const std::string& path);

  InputFile(InputFile&& other) noexcept
      : path_(std::move(other.path_)),
        descriptor_(std::exchange(other.descriptor_, -1)),
        size_bytes_(other.size_bytes_) {}
  InputFile& operator=(InputFile&&) = delete;
  ~InputFile();

  const std::string& path() const { return path_; }
  int descriptor() const { return descriptor_; }
  uint64_t size_bytes() const { return size_bytes_; }

  // Reads on from where the last call ended.
  absl::Status ReadExactly(void* bytes, size_t count);

 private:
  InputFile(std::string path, int descriptor)
      : path_(std::move(path)), descriptor_(descriptor) {}

  std::string path_;
  int descriptor_;
  uint64_t size_bytes_ = 0;
};

}  // namespace tabular
}  // namespace footprint

#endif  // FOOTPRINT_BASE_FILES_INPUT_FILE_H_
