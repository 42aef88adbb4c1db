#include "footprint/lowmem/streamed_product.h"

#include <algorithm>

#include "footprint/lowmem/encoder_weights.h"
#include "footprint/lowmem/token_panel.h"

namespace footprint {

void StreamedProduct::UseSingleToken(const float* panel, int64_t features) {
  single_token_ = true;
  for (int64_t i = 0; i < features; ++i) {
    memory_.dense[i] = panel[i * kPanelTokens];
  }
}

// As many rows as the slot holds.
absl::StatusOr<Tile> StreamedProduct::NextTile(
    const Weight& matrix, int64_t row, int64_t row_end,
    const IndexRange& columns) const {
  const int64_t row_bytes = columns.size() * DTypeBytes(matrix.dtype());
  int64_t rows = std::min(row_end - row,
                          std::max<int64_t>(1, memory_.tile_bytes / row_bytes));
  while (true) {
    absl::StatusOr<Tile> tile =
        matrix.Block(row, rows, columns.begin, columns.size());
    if (!tile.ok()) return tile;
    const int64_t needed = store_->SlotBytes(*tile);
    if (needed <= memory_.slot_bytes) return tile;
    if (rows == 1) {
      return absl::InternalError("a plan's slot holds no row");
    }
    // Direct reads of rows with gaps need whole pages for each.
    rows = std::max<int64_t>(
        1, std::min(rows - 1, rows * memory_.slot_bytes / needed));
  }
}

void StreamedProduct::MultiplyTile(const Weight& matrix, const Tile& tile,
                                   const TileView& view, int64_t first_column,
                                   const PanelView& input, int64_t panels,
                                   const ProductEnds& ends,
                                   const PanelOutput& output) {
  const ElementType type = ElementTypeOf(matrix);
  const int64_t element_bytes = ElementBytes(type);
  const int64_t columns = tile.row_bytes / element_bytes;
  const int64_t stride = view.row_stride_bytes / element_bytes;
  if (single_token_) {
    MultiplyVector(type, view.data, stride, tile.rows, columns,
                   memory_.dense + first_column, ends, output.data,
                   output.row_stride);
    return;
  }
  MatrixView weights = {static_cast<const float*>(view.data), stride, 1};
  if (type != ElementType::kFloat32) {
    for (int64_t row = 0; row < tile.rows; ++row) {
      WidenToFloat(
          type,
          static_cast<const char*>(view.data) + row * view.row_stride_bytes,
          columns, memory_.wide + row * columns);
    }
    weights = {memory_.wide, columns, 1};
  }
  MultiplyPanels(weights, tile.rows, columns,
                 {input.data + first_column * kPanelTokens, input.panel_stride},
                 panels, ends, output);
}

absl::Status StreamedProduct::Multiply(const Weight& matrix,
                                       const IndexRange& rows,
                                       const IndexRange& columns,
                                       const PanelView& input, int64_t panels,
                                       const ProductEnds& ends,
                                       const PanelOutput& output) {
  const int64_t panel_columns = matrix.panel_columns();
  for (int64_t column = columns.begin; column < columns.end;) {
    // To the end of the file's panel of columns.
    const int64_t column_end =
        std::min(columns.end, (column / panel_columns + 1) * panel_columns);
    const bool first = column == columns.begin;
    const bool last = column_end == columns.end;
    for (int64_t row = rows.begin; row < rows.end;) {
      const absl::StatusOr<Tile> tile =
          NextTile(matrix, row, rows.end, {column, column_end});
      if (!tile.ok()) return tile.status();
      const absl::StatusOr<TileView> view = store_->Load(*tile, memory_.slot);
      if (!view.ok()) return view.status();
      const int64_t done = row - rows.begin;
      ProductEnds tile_ends;
      if (first && ends.bias != nullptr) tile_ends.bias = ends.bias + done;
      tile_ends.accumulate = ends.accumulate || !first;
      if (last) tile_ends.activation = ends.activation;
      MultiplyTile(matrix, *tile, *view, column - columns.begin, input, panels,
                   tile_ends,
                   {output.data + done * output.row_stride, output.row_stride,
                    output.panel_stride});
      row += tile->rows;
    }
    column = column_end;
  }
  return absl::OkStatus();
}

}  // namespace footprint
