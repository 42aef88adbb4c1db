// The place of each tensor in a safetensors file, found after checking every
// bound.
//
//   absl::StatusOr<footprint::SafetensorsIndex> index =
//       footprint::SafetensorsIndex::Open("model.safetensors");
//   absl::StatusOr<const footprint::TensorInfo*> bias =
//       index->Find("encoder.layer.0.output.dense.bias");
//   // (*bias)->dtype, (*bias)->shape, (*bias)->offset_bytes
//
// Only the header is read, never the data. The reader is strict: a header that
// says anything twice, leaves a byte of the file out, gives one to two tensors,
// or disagrees with itself is refused, so whatever an index says can be read
// without further checks as long as the file stays as it was.
//
// tensors() leaves padding out. Thread-safe once made. Memory: the index's
// (tensor_index.h), and the header's text while reading. Time: O(n log n) in
// tensors.
//
// InvalidArgument: not a safetensors file, one that breaks the format, or more
// tensors than kMaximumTensors; the text names the file, the tensor, and the
// byte. NotFound: no such file or tensor. DataLoss: the file was shortened
// while it was read. Otherwise as FileError, such as PermissionDenied.

#ifndef FOOTPRINT_BASE_SAFETENSORS_SAFETENSORS_H_
#define FOOTPRINT_BASE_SAFETENSORS_SAFETENSORS_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/tensor/tensor_index.h"

namespace footprint {

// Tensors whose name begins so hold no values: they fill the file up to the
// next page, since the format allows no gaps.
inline constexpr absl::string_view kPaddingPrefix = "__padding__";

class SafetensorsIndex : public TensorIndex {
 public:
  // The format's own limit for a header.
  static constexpr int64_t kMaximumHeaderBytes = 100'000'000;
  // This reader's own, padding included: the largest models have a quarter of
  // it, and a header full of empty tensors would take seconds.
  static constexpr size_t kMaximumTensors = size_t{1} << 19;

  static absl::StatusOr<SafetensorsIndex> Open(absl::string_view path);

  // Reads from a descriptor that stays the caller's; `name` is for messages.
  static absl::StatusOr<SafetensorsIndex> Read(int descriptor,
                                               absl::string_view name);

  // The header's text alone: what lies between the length and the data of a
  // file of `file_bytes`.
  static absl::StatusOr<SafetensorsIndex> Parse(absl::string_view header,
                                                int64_t file_bytes,
                                                absl::string_view name);

  int64_t data_offset_bytes() const { return data_offset_bytes_; }

 private:
  absl::Status CheckLayout();
  absl::Status CheckRanges();
  absl::Status CheckNames();

  int64_t data_offset_bytes_ = 0;
};

}  // namespace footprint

#endif  // FOOTPRINT_BASE_SAFETENSORS_SAFETENSORS_H_
