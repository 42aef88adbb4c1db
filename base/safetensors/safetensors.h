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
// An index owns its strings and refers to no file. Thread-safe once made.
// Memory: while reading, the header's text besides the index; then about 150
// bytes a tensor and its name. Time: O(n log n) in tensors.
//
// InvalidArgument: not a safetensors file, one that breaks the format, or more
// tensors than kMaximumTensors; the text names the file, the tensor, and the
// byte. NotFound: no such file or tensor. DataLoss: the file was shortened
// while it was read. Otherwise as FileError, such as PermissionDenied.

#ifndef FOOTPRINT_BASE_SAFETENSORS_SAFETENSORS_H_
#define FOOTPRINT_BASE_SAFETENSORS_SAFETENSORS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "footprint/base/tensor/dtype.h"
#include "footprint/base/tensor/shape.h"

namespace footprint {

struct TensorInfo {
  std::string name;
  DType dtype = DType::kF32;
  Shape shape;
  int64_t offset_bytes = 0;  // from the beginning of the file
  int64_t size_bytes = 0;
};

// Tensors whose name begins so hold no values: they fill the file up to the
// next page, since the format allows no gaps.
inline constexpr absl::string_view kPaddingPrefix = "__padding__";

class SafetensorsIndex {
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

  // Returns the tensors in the order of the data, without padding.
  absl::Span<const TensorInfo> tensors() const { return tensors_; }
  const std::map<std::string, std::string>& metadata() const {
    return metadata_;
  }
  const std::string& file_name() const { return file_name_; }
  int64_t file_bytes() const { return file_bytes_; }
  int64_t data_offset_bytes() const { return data_offset_bytes_; }

  // The tensor, which lives as long as the index; NotFound names the closest
  // names there are.
  absl::StatusOr<const TensorInfo*> Find(absl::string_view name) const;

  // Returns null if there is none: for tensors that may be missing.
  const TensorInfo* FindOrNull(absl::string_view name) const;

 private:
  absl::Status CheckLayout();
  absl::Status CheckRanges();
  absl::Status CheckNames();
  void SortByName();

  std::string file_name_;
  int64_t file_bytes_ = 0;
  int64_t data_offset_bytes_ = 0;
  std::vector<TensorInfo> tensors_;
  std::vector<int32_t> by_name_;  // positions in tensors_
  std::map<std::string, std::string> metadata_;
};

}  // namespace footprint

#endif  // FOOTPRINT_BASE_SAFETENSORS_SAFETENSORS_H_
