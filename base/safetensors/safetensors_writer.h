// Writes a safetensors file of any size through a small buffer. The file is
// written completely or not at all.
//
//   absl::StatusOr<footprint::SafetensorsWriter> writer =
//       footprint::SafetensorsWriter::Create(
//           "model.safetensors", {{"bias", footprint::DType::kF32, {3}}});
//   const float bias[3] = {1, 2, 3};
//   absl::Status status = writer->Append(bias, sizeof(bias));
//   if (status.ok()) status = writer->Finish();
//
// The header lists all tensors at once, and their values follow in that order,
// in pieces of any size. SafetensorsIndex::Parse checks the header before a
// byte is written, so a written file can be read.
//
// Movable; thread-compatible; copies the names. Memory: 32 KiB and the names; a
// few times the header while Create runs, and one padding at a time.
//
// InvalidArgument: two tensors have one name, a name is not UTF-8 or begins
// with kPaddingPrefix, the alignment is wrong, the tensors exceed 2^62 bytes
// together, or the reader would refuse the header. OutOfRange: a tensor exceeds
// 2^63 - 1 bytes or has a negative extent. FailedPrecondition: more or fewer
// bytes were appended than the tensors have. Other errors are those of
// AtomicFile.

#ifndef FOOTPRINT_BASE_SAFETENSORS_SAFETENSORS_WRITER_H_
#define FOOTPRINT_BASE_SAFETENSORS_SAFETENSORS_WRITER_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "footprint/base/files/atomic_file.h"
#include "footprint/base/safetensors/safetensors.h"

namespace footprint {

struct TensorSpec {
  std::string name;
  DType dtype = DType::kF32;
  Shape shape;
};

struct SafetensorsWriterOptions {
  // Each tensor and the end of the file are at a multiple of this, which must
  // be from 1 to 2^20. (With 3, 5, 6 and 7 they are not: the data begins at a
  // multiple of 8.) If it is above 1, tensors whose names begin with
  // kPaddingPrefix fill the gaps, since the format allows no gaps. Other
  // programs see them as tensors that their model does not have.
  int64_t alignment_bytes = 1;
  std::map<std::string, std::string> metadata;
  ToDisk to_disk = ToDisk::kFlush;
};

class SafetensorsWriter {
 public:
  // Opens the file and writes its header. Returns the errors above.
  static absl::StatusOr<SafetensorsWriter> Create(
      absl::string_view path, absl::Span<const TensorSpec> tensors,
      const SafetensorsWriterOptions& options = {});

  // Appends the next bytes of the values, which may cross from tensor to
  // tensor.
  absl::Status Append(const void* data, int64_t bytes);

  // Completes the file. Returns FailedPrecondition if values are missing, and
  // then the old file stays.
  absl::Status Finish();

  // Returns the size of the whole file.
  int64_t file_bytes() const { return file_bytes_; }

 private:
  // A tensor or padding.
  struct Part {
    std::string name;
    int64_t bytes = 0;
    bool padding = false;
  };

  struct Layout {
    std::vector<std::string> entries;  // of the header
    std::vector<Part> parts;
    int64_t data_bytes = 0;
  };

  explicit SafetensorsWriter(AtomicFile file) : file_(std::move(file)) {}
  static absl::Status AddPart(const TensorSpec& tensor, bool padding,
                              Layout* layout);
  static absl::Status LayOut(absl::Span<const TensorSpec> tensors,
                             int64_t alignment, Layout* layout);
  absl::Status Begin(const std::string& header);
  absl::Status SkipComplete();

  AtomicFile file_;
  std::vector<Part> parts_;
  size_t part_ = 0;
  int64_t written_in_part_ = 0;
  int64_t file_bytes_ = 0;
};

}  // namespace footprint

#endif  // FOOTPRINT_BASE_SAFETENSORS_SAFETENSORS_WRITER_H_
