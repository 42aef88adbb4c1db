// Reads any bytes as a file, and as a header of a file with some bytes of data.
// If that gives an index, all that the index says is correct.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/safetensors/safetensors.h"
#include "footprint/base/tensor/dtype.h"
#include "footprint/base/tensor/shape.h"
#include "footprint/base/testing/fuzz_target.h"
#include "footprint/base/testing/memory_file.h"

namespace footprint {
namespace {

void RequireRight(const absl::StatusOr<SafetensorsIndex>& index) {
  if (!index.ok()) {
    RequireRefusal(index.status());
    Require(absl::IsInvalidArgument(index.status()), "a bad file is said so");
    return;
  }
  int64_t end = index->data_offset_bytes();
  for (const TensorInfo& tensor : index->tensors()) {
    Require(tensor.offset_bytes >= end, "tensors follow each other");
    end = tensor.offset_bytes + tensor.size_bytes;
    Require(*TensorBytes(tensor.dtype, tensor.shape) == tensor.size_bytes,
            "a tensor is as large as its shape");
    Require(*index->Find(tensor.name) == &tensor, "a tensor has its name");
  }
  Require(end <= index->file_bytes(), "tensors lie within the file");
}

void ReadAnyFile(absl::string_view bytes) {
  const MemoryFile file(bytes);
  RequireRight(SafetensorsIndex::Read(file.descriptor(), "file"));
  if (bytes.empty()) return;
  const absl::string_view header = bytes.substr(0, bytes.size() - 1);
  const int64_t data_bytes = static_cast<unsigned char>(bytes.back());
  RequireRight(SafetensorsIndex::Parse(
      header, 8 + static_cast<int64_t>(header.size()) + data_bytes, "file"));
}

}  // namespace

FOOTPRINT_FUZZ_TARGET(ReadAnyFile)

}  // namespace footprint
