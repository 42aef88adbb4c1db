#include "footprint/lowmem/weights/float_reader.h"

#include <algorithm>

#include "footprint/base/tensor/dtype.h"
#include "footprint/lowmem/kernels/matrix_product.h"

namespace footprint {
namespace {

// Reads a tile of elements of `type` as dense floats.
absl::Status ReadAsFloats(WeightStore& store, DType type, const Tile& tile,
                          float* destination) {
  // The stored numbers are read into the end of the destination. Widening them
  // from the first to the last never overwrites a number that is still to be
  // widened.
  const int64_t count = ElementsOfBytes(type, tile.size_bytes());
  char* stored = reinterpret_cast<char*>(destination) +
                 count * static_cast<int64_t>(sizeof(float)) -
                 tile.size_bytes();
  const absl::Status status = store.Read(tile, stored);
  if (status.ok() && type != DType::kF32) {
    WidenToFloat(type, stored, count, destination);
  }
  return status;
}

}  // namespace

const float* RowsInPlace(WeightStore& store, const Weight& weight, int64_t row,
                         int64_t rows) {
  if (weight.dtype() != DType::kF32) return nullptr;
  const absl::StatusOr<Tile> tile = weight.Rows(row, rows);
  if (!tile.ok() || store.SlotBytes(*tile) > 0) return nullptr;
  const absl::StatusOr<TileView> view = store.Load(*tile, nullptr);
  return view.ok() ? static_cast<const float*>(view->data) : nullptr;
}

absl::Status ReadRow(WeightStore& store, const Weight& matrix, int64_t row,
                     float* destination) {
  const DType type = matrix.dtype();
  const int64_t step = matrix.block_columns();
  for (int64_t column = 0; column < matrix.columns(); column += step) {
    const int64_t count = std::min(step, matrix.columns() - column);
    const absl::StatusOr<Tile> tile = matrix.Block(row, 1, column, count);
    if (!tile.ok()) return tile.status();
    const absl::Status status =
        ReadAsFloats(store, type, *tile, destination + column);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status ReadRows(WeightStore& store, const Weight& weight, int64_t row,
                      int64_t rows, float* destination) {
  const int64_t columns = weight.columns();
  if (rows * columns == 0) return absl::OkStatus();
  if (weight.block_columns() != columns) {
    for (int64_t i = 0; i < rows; ++i) {
      const absl::Status status =
          ReadRow(store, weight, row + i, destination + i * columns);
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }
  const absl::StatusOr<Tile> tile = weight.Rows(row, rows);
  if (!tile.ok()) return tile.status();
  return ReadAsFloats(store, weight.dtype(), *tile, destination);
}

}  // namespace footprint
