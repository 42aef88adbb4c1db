// Finds the place of each tensor in a safetensors file, and checks every bound.
//
//   absl::StatusOr<footprint::SafetensorsIndex> index =
//       footprint::SafetensorsIndex::Open("model.safetensors");
//   absl::StatusOr<const footprint::TensorInfo*> bias =
//       index->Find("encoder.layer.0.output.dense.bias");
//   // (*bias)->dtype, (*bias)->shape, (*bias)->offset_bytes
//
// It reads only the header, never the data. The reader is strict. It refuses a
// header that says something twice, leaves out a byte of the file, gives a byte
// to two tensors, or contradicts itself. So the bytes of each tensor in an
// index can be read without further checks, as long as the file does not
// change.
//
// tensors() leaves padding out. Thread-safe once made. Memory: that of the
// index (tensor_index.h), and the header's text while reading. Time: O(n log n)
// in the tensors.
//
// InvalidArgument: the file is not a safetensors file, breaks the format, or
// has more tensors than kMaximumTensors; the text names the file, the tensor,
// and the byte. NotFound: no such file or tensor. DataLoss: the file was
// shortened while it was read. Other errors are those of FileError, such as
// PermissionDenied.

#ifndef FOOTPRINT_BASE_SAFETENSORS_SAFETENSORS_H_
#define FOOTPRINT_BASE_SAFETENSORS_SAFETENSORS_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/tensor/tensor_index.h"

namespace footprint {

// Tensors whose names begin with this prefix hold no values. They fill the file
// up to the next page, since the format allows no gaps.
inline constexpr absl::string_view kPaddingPrefix = "__padding__";

class SafetensorsIndex : public TensorIndex {
 public:
  // The format's limit for a header.
  static constexpr int64_t kMaximumHeaderBytes = 100'000'000;
  // This reader's limit, padding included. The largest models have a quarter of
  // it. Without a limit, a header full of empty tensors would take seconds.
  static constexpr size_t kMaximumTensors = size_t{1} << 19;

  // Reads the header of the file at `path`.
  static absl::StatusOr<SafetensorsIndex> Open(absl::string_view path);

  // Reads the header of an open file, which stays open. Messages call it
  // `name`.
  static absl::StatusOr<SafetensorsIndex> Read(int descriptor,
                                               absl::string_view name);

  // Parses only a header's text, which lies between the length and the data of
  // a file of `file_bytes`.
  static absl::StatusOr<SafetensorsIndex> Parse(absl::string_view header,
                                                int64_t file_bytes,
                                                absl::string_view name);

  // Returns the offset in the file at which the data begin.
  int64_t data_offset_bytes() const { return data_offset_bytes_; }

 private:
  absl::Status CheckLayout();
  absl::Status CheckRanges();
  absl::Status CheckNames();

  int64_t data_offset_bytes_ = 0;
};

}  // namespace footprint

#endif  // FOOTPRINT_BASE_SAFETENSORS_SAFETENSORS_H_
