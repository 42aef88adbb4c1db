#include "footprint/lowmem/weights/column_blocks.h"

#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace footprint {
namespace {

// Returns the three numbers of "RxC/W", or nothing for another text.
absl::optional<std::vector<int64_t>> ParseNumbers(absl::string_view text) {
  std::vector<int64_t> numbers;
  for (const absl::string_view part :
       absl::StrSplit(text, absl::ByAnyChar("x/"))) {
    int64_t number = 0;
    if (!absl::SimpleAtoi(part, &number) || number < 0 ||
        number > std::numeric_limits<int32_t>::max()) {
      return absl::nullopt;
    }
    numbers.push_back(number);
  }
  if (numbers.size() != 3 || numbers[2] == 0) return absl::nullopt;
  return numbers;
}

}  // namespace

std::string ColumnBlocksKey(absl::string_view tensor_name) {
  return absl::StrCat("panels:", tensor_name);
}

std::string ColumnBlocksText(int64_t rows, int64_t columns,
                             int64_t block_columns) {
  return absl::StrCat(rows, "x", columns, "/", block_columns);
}

absl::StatusOr<ColumnBlocks> FindColumnBlocks(const TensorIndex& index,
                                              const TensorInfo& tensor) {
  ColumnBlocks blocks;
  const auto entry = index.metadata().find(ColumnBlocksKey(tensor.name));
  if (entry == index.metadata().end()) {
    blocks.shape = tensor.shape;
    blocks.block_columns = tensor.shape.columns();
    return blocks;
  }
  const absl::optional<std::vector<int64_t>> numbers =
      ParseNumbers(entry->second);
  if (numbers.has_value()) {
    const int64_t rows = (*numbers)[0], columns = (*numbers)[1];
    blocks.shape = {rows, columns};
    blocks.block_columns = (*numbers)[2];
    const int64_t count =
        (columns + blocks.block_columns - 1) / blocks.block_columns;
    const Shape packed = {count, rows, blocks.block_columns};
    if (packed == tensor.shape &&
        entry->second ==
            ColumnBlocksText(rows, columns, blocks.block_columns)) {
      return blocks;
    }
  }
  return absl::InvalidArgumentError(absl::StrCat(
      index.file_name(), ": metadata \"", entry->first, "\" says \"",
      entry->second, "\", which does not fit the tensor's shape ",
      tensor.shape.ToString(), ": pack the original file again"));
}

}  // namespace footprint
