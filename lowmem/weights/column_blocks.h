// The metadata by which a packed file marks a matrix as stored in column
// blocks.
//
//   const absl::StatusOr<ColumnBlocks> blocks =
//       FindColumnBlocks(index, *index.FindOrNull("m"));
//
// A matrix [rows, columns] of blocks `block_columns` wide is stored as the
// tensor [blocks, rows, block_columns]: any reader of safetensors sees that
// shape, so none takes the values for a matrix in the usual order. The columns
// that the last block has too many are zero. The file's metadata holds, under
// "panels:NAME", the text "ROWSxCOLUMNS/PANEL_COLUMNS".
//
// Pure functions, thread-safe. Memory: the texts.

#ifndef FOOTPRINT_LOWMEM_WEIGHTS_COLUMN_BLOCKS_H_
#define FOOTPRINT_LOWMEM_WEIGHTS_COLUMN_BLOCKS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/tensor/tensor_index.h"

namespace footprint {

struct ColumnBlocks {
  Shape shape;  // before packing
  int64_t block_columns = 0;
};

std::string ColumnBlocksKey(absl::string_view tensor_name);
std::string ColumnBlocksText(int64_t rows, int64_t columns,
                             int64_t block_columns);

// The shape as it stands and one block for a tensor without such an entry.
// InvalidArgument: an entry that is no such text, or disagrees with the tensor.
absl::StatusOr<ColumnBlocks> FindColumnBlocks(const TensorIndex& index,
                                              const TensorInfo& tensor);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_WEIGHTS_COLUMN_BLOCKS_H_
