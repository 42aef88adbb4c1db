#include "footprint/lowmem/streaming/float_reader.h"

#include "footprint/lowmem/kernels/matrix_product.h"
#include "footprint/lowmem/models/weight_finder.h"
#include "footprint/lowmem/streaming/streamed_product.h"

namespace footprint {

const float* RowsInPlace(WeightStore& store, const Weight& weight, int64_t row,
                         int64_t rows) {
  if (weight.dtype() != DType::kF32) return nullptr;
  const absl::StatusOr<Tile> tile = weight.Rows(row, rows);
  if (!tile.ok() || store.SlotBytes(*tile) > 0) return nullptr;
  const absl::StatusOr<TileView> view = store.Load(*tile, nullptr);
  return view.ok() ? static_cast<const float*>(view->data) : nullptr;
}

absl::Status ReadRows(WeightStore& store, const Weight& weight, int64_t row,
                      int64_t rows, float* destination) {
  const int64_t columns = weight.columns();
  if (rows * columns == 0) return absl::OkStatus();
  if (weight.panel_columns() != columns) {
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
