// Reads any metadata of a packed file, and any text for a packed tensor. A
// matrix in column blocks must have the values of its tensor, and the zeros of
// the last block.

#include <algorithm>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "footprint/base/safetensors/safetensors.h"
#include "footprint/base/testing/fuzz_target.h"
#include "footprint/lowmem/weights/column_blocks.h"

namespace footprint {
namespace {

void RequireRight(const TensorInfo& tensor, const ColumnBlocks& blocks) {
  if (blocks.shape == tensor.shape) return;
  Require(blocks.shape.rank() == 2 && blocks.block_columns > 0,
          "what is packed is a matrix");
  const int64_t rows = blocks.shape.extent(0);
  const int64_t columns = blocks.shape.extent(1);
  const int64_t room = tensor.shape.elements();
  Require(rows * columns <= room, "the tensor holds the matrix");
  Require(room - rows * columns <= rows * (blocks.block_columns - 1),
          "less than a block is empty");
}

void ReadHeader(absl::string_view header, int64_t data_bytes) {
  const absl::StatusOr<SafetensorsIndex> index = SafetensorsIndex::Parse(
      header, 8 + static_cast<int64_t>(header.size()) + data_bytes, "file");
  if (!index.ok()) return RequireRefusal(index.status());
  for (const TensorInfo& tensor : index->tensors()) {
    const absl::StatusOr<ColumnBlocks> blocks =
        FindColumnBlocks(*index, tensor);
    if (blocks.ok()) {
      RequireRight(tensor, *blocks);
    } else {
      RequireRefusal(blocks.status());
    }
  }
}

// Reads a tensor of 3 x 8 that is held in blocks of 4 columns.
void ReadText(absl::string_view text) {
  const bool is_plain =
      std::all_of(text.begin(), text.end(), [](unsigned char c) {
        return absl::ascii_isprint(c) && c != '"' && c != '\\';
      });
  if (!is_plain) return;
  constexpr char kBefore[] = R"({"__metadata__":{"panels:w":")";
  constexpr char kBehind[] =
      R"("},"w":{"dtype":"U8","shape":[2,3,4],"data_offsets":[0,24]}})";
  ReadHeader(absl::StrCat(kBefore, text, kBehind), 24);
}

void ReadAnyMetadata(absl::string_view bytes) {
  if (bytes.empty()) return;
  ReadText(bytes);
  ReadHeader(bytes.substr(0, bytes.size() - 1),
             static_cast<unsigned char>(bytes.back()));
}

}  // namespace

FOOTPRINT_FUZZ_TARGET(ReadAnyMetadata)

}  // namespace footprint
