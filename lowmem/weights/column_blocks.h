// The metadata that marks a matrix of a packed file as stored in column blocks.
//
//   const absl::StatusOr<ColumnBlocks> blocks =
//       FindColumnBlocks(index, *index.FindOrNull("m"));
//
// A matrix [rows, columns] in blocks of `block_columns` is stored as the tensor
// [blocks, rows, block_columns]. Every reader of safetensors sees that shape,
// so none mistakes the values for a matrix in the usual order. The last block
// is padded with zero columns. The file's metadata holds, under "panels:NAME",
// the text "ROWSxCOLUMNS/PANEL_COLUMNS".
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

// These return the key of the entry for a tensor, and its text.
std::string ColumnBlocksKey(absl::string_view tensor_name);
std::string ColumnBlocksText(int64_t rows, int64_t columns,
                             int64_t block_columns);

// Returns the shape and the blocks of a packed tensor. A tensor without an
// entry has its stored shape and one block. Returns InvalidArgument if the
// entry has another form or disagrees with the tensor.
absl::StatusOr<ColumnBlocks> FindColumnBlocks(const TensorIndex& index,
                                              const TensorInfo& tensor);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_WEIGHTS_COLUMN_BLOCKS_H_
