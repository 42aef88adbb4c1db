// Reads any bytes as a file. If that gives an index, all that the index says is
// correct.

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/gguf/gguf.h"
#include "footprint/base/tensor/shape.h"
#include "footprint/base/testing/fuzz_target.h"
#include "footprint/base/testing/memory_file.h"

namespace footprint {
namespace {

void ReadAnyFile(absl::string_view bytes) {
  const MemoryFile file(bytes);
  const absl::StatusOr<GgufIndex> index =
      GgufIndex::Read(file.descriptor(), "file");
  if (!index.ok()) {
    RequireRefusal(index.status());
    Require(absl::IsInvalidArgument(index.status()) ||
                absl::IsUnimplemented(index.status()),
            "a bad file is said so");
    return;
  }
  const auto file_bytes = static_cast<int64_t>(bytes.size());
  int64_t end = 0;
  for (const TensorInfo& tensor : index->tensors()) {
    Require(tensor.offset_bytes >= end, "tensors follow each other");
    end = tensor.offset_bytes + tensor.size_bytes;
    Require(*TensorBytes(tensor.dtype, tensor.shape) == tensor.size_bytes,
            "a tensor is as large as its shape");
    Require(*index->Find(tensor.name) == &tensor, "a tensor has its name");
  }
  Require(end <= file_bytes, "tensors lie within the file");
  for (const std::pair<const std::string, GgufValue>& entry : index->values()) {
    const GgufValue& value = entry.second;
    Require(value.offset_bytes >= 0 && value.size_bytes >= 0 &&
                value.size_bytes <= file_bytes - value.offset_bytes,
            "lists lie within the file");
    Require(value.count <= value.size_bytes || value.count == 0,
            "an element of a list has a byte");
  }
}

}  // namespace

FOOTPRINT_FUZZ_TARGET(ReadAnyFile)

}  // namespace footprint
