// The place of each tensor in a file of any format.
//
//   absl::StatusOr<const footprint::TensorInfo*> bias =
//       index.Find("encoder.layer.0.output.dense.bias");
//   // (*bias)->dtype, (*bias)->shape, (*bias)->offset_bytes
//
// The reader of a format makes an index after it has checked every bound: see
// safetensors.h and gguf.h.
//
// An index owns its strings and refers to no file. Thread-safe once made.
// Memory: about 100 bytes per tensor, and its name.

#ifndef FOOTPRINT_BASE_TENSOR_TENSOR_INDEX_H_
#define FOOTPRINT_BASE_TENSOR_TENSOR_INDEX_H_

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

class TensorIndex {
 public:
  // Returns the tensors in the order of the data.
  absl::Span<const TensorInfo> tensors() const { return tensors_; }
  // Returns the texts in which a safetensors file describes itself, by key. It
  // is empty for other formats (GgufIndex::values has those of GGUF).
  const std::map<std::string, std::string>& metadata() const {
    return metadata_;
  }
  const std::string& file_name() const { return file_name_; }
  int64_t file_bytes() const { return file_bytes_; }

  // Returns the tensor, which lives as long as the index. NotFound lists the
  // closest names in the file.
  absl::StatusOr<const TensorInfo*> Find(absl::string_view name) const;

  // Returns the tensor, which lives as long as the index, or null if it is
  // missing.
  const TensorInfo* FindOrNull(absl::string_view name) const;

 protected:
  // Sorts the names. Call it after all tensors are added. Returns
  // InvalidArgument if a name occurs twice.
  absl::Status SortByName();

  std::string file_name_;
  int64_t file_bytes_ = 0;
  std::vector<TensorInfo> tensors_;
  std::map<std::string, std::string> metadata_;

 private:
  std::vector<int32_t> by_name_;  // positions in tensors_
};

}  // namespace footprint

// Tested by //base/safetensors:safetensors_test and //base/gguf:gguf_test.

#endif  // FOOTPRINT_BASE_TENSOR_TENSOR_INDEX_H_
