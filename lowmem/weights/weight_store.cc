#include "footprint/lowmem/weights/weight_store.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "footprint/lowmem/weights/column_blocks.h"
#include "footprint/lowmem/weights/weight_backends.h"
#include "footprint/lowmem/weights/weight_file.h"

namespace footprint {
namespace {

constexpr absl::string_view kBackendNames[] = {"resident", "pread", "direct",
                                               "mmap"};

absl::Status OutOfRange(const Weight& weight, absl::string_view what,
                        int64_t begin, int64_t count, int64_t limit) {
  return absl::OutOfRangeError(absl::StrCat(
      "tensor \"", weight.tensor().name, "\", ", weight.shape().ToString(),
      ": ", count, " ", what, " from ", begin, " are not within 0 to ", limit));
}

}  // namespace

absl::string_view WeightBackendName(WeightBackend backend) {
  return kBackendNames[static_cast<size_t>(backend)];
}

absl::StatusOr<WeightBackend> WeightBackendFromName(absl::string_view name) {
  for (size_t i = 0; i < std::size(kBackendNames); ++i) {
    if (kBackendNames[i] == name) return static_cast<WeightBackend>(i);
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "no backend \"", name, "\"; there are resident, pread, direct, mmap"));
}

absl::StatusOr<Tile> Weight::Rows(int64_t row, int64_t row_count) const {
  return Block(row, row_count, 0, columns_);
}

absl::StatusOr<Tile> Weight::Block(int64_t row, int64_t row_count,
                                   int64_t column, int64_t column_count) const {
  // Uses subtractions, since sums could overflow.
  if (row < 0 || row_count < 0 || row_count > rows_ ||
      row > rows_ - row_count) {
    return OutOfRange(*this, "rows", row, row_count, rows_);
  }
  if (column < 0 || column_count < 0 || column_count > columns_ ||
      column > columns_ - column_count) {
    return OutOfRange(*this, "columns", column, column_count, columns_);
  }
  const int64_t block = block_columns_ == 0 ? 0 : column / block_columns_;
  const int64_t column_in_block = column - block * block_columns_;
  if (column_in_block + column_count > block_columns_) {
    return OutOfRange(*this, "columns of a block", column_in_block,
                      column_count, block_columns_);
  }
  const int64_t stored_together = BlockOf(dtype()).elements;
  if (column_in_block % stored_together != 0 ||
      column_count % stored_together != 0) {
    return absl::OutOfRangeError(absl::StrCat(
        "tensor \"", tensor_->name, "\": ", column_count, " columns from ",
        column, " are not whole blocks of ", stored_together));
  }
  const int64_t row_stride_bytes = BytesOfElements(dtype(), block_columns_);
  constexpr int64_t kMaximum = std::numeric_limits<int32_t>::max();
  if (row_stride_bytes > kMaximum || row_count > kMaximum) {
    return OutOfRange(*this, "bytes of a row", 0, row_stride_bytes, kMaximum);
  }
  Tile tile;
  tile.offset_bytes = tensor_->offset_bytes +
                      (block * rows_ + row) * row_stride_bytes +
                      BytesOfElements(dtype(), column_in_block);
  tile.row_stride_bytes = row_stride_bytes;
  tile.row_bytes = static_cast<int32_t>(BytesOfElements(dtype(), column_count));
  tile.rows = static_cast<int32_t>(row_count);
  // Quantised blocks are read byte by byte, so they need no alignment.
  tile.alignment_bytes =
      static_cast<int32_t>(std::max<int64_t>(1, DTypeBytes(dtype())));
  return tile;
}

absl::Status WeightStore::CheckTile(const Tile& tile) const {
  const bool sane = tile.rows >= 0 && tile.row_bytes >= 0 &&
                    tile.offset_bytes >= 0 &&
                    (tile.rows <= 1 || tile.row_stride_bytes >= tile.row_bytes);
  // The product with the stride could overflow before the stride is known to be
  // small.
  const int64_t file_bytes = index().file_bytes();
  if (sane && tile.offset_bytes <= file_bytes &&
      (tile.rows <= 1 ||
       tile.row_stride_bytes <= file_bytes / (tile.rows - 1)) &&
      tile.extent_bytes() <= file_bytes - tile.offset_bytes) {
    return absl::OkStatus();
  }
  return absl::OutOfRangeError(absl::StrCat(
      index().file_name(), ": a tile at byte ", tile.offset_bytes, " of ",
      tile.rows, " rows of ", tile.row_bytes, " bytes, ", tile.row_stride_bytes,
      " apart, is not within the file's ", file_bytes,
      " bytes; take tiles from Weight::Rows or Weight::Block"));
}

absl::StatusOr<std::unique_ptr<WeightStore>> WeightStore::Open(
    absl::string_view path, WeightBackend backend) {
  return absl::EndsWith(path, ".json")
             ? lowmem_internal::OpenShards(path, backend)
             : lowmem_internal::OpenFile(path, backend);
}

absl::StatusOr<std::unique_ptr<WeightStore>> lowmem_internal::OpenFile(
    absl::string_view path, WeightBackend backend) {
  absl::StatusOr<WeightFile> file = WeightFile::Open(path);
  if (!file.ok()) return file.status();
  switch (backend) {
    case WeightBackend::kResident:
      return lowmem_internal::OpenResident(*std::move(file));
    case WeightBackend::kPread:
      return lowmem_internal::OpenPread(*std::move(file));
    case WeightBackend::kDirect:
      return lowmem_internal::OpenDirect(*std::move(file));
    case WeightBackend::kMmap:
      return lowmem_internal::OpenMmap(*std::move(file));
  }
  return absl::InvalidArgumentError("no such backend");
}

absl::StatusOr<Weight> WeightStore::Find(absl::string_view name) const {
  const absl::StatusOr<const TensorInfo*> tensor = index().Find(name);
  if (!tensor.ok()) return tensor.status();
  const absl::StatusOr<ColumnBlocks> blocks =
      FindColumnBlocks(index(), **tensor);
  if (!blocks.ok()) return blocks.status();
  Weight weight;
  weight.tensor_ = *tensor;
  weight.shape_ = blocks->shape;
  weight.columns_ = blocks->shape.columns();
  weight.rows_ = (*tensor)->size_bytes == 0 ? 0 : blocks->shape.rows();
  weight.block_columns_ = blocks->block_columns;
  return weight;
}

std::string PackCommand(const WeightStore& store) {
  const std::string& input = store.index().file_name();
  if (IsGgufFile(input)) return "";
  absl::string_view output = input;
  absl::string_view ending;
  if (!absl::ConsumeSuffix(&output, ".index.json") &&
      absl::ConsumeSuffix(&output, ".json")) {
    ending = ".safetensors";
  }
  return absl::StrCat("lowmem_pack ", input, " ", output, ending);
}

}  // namespace footprint
