#include "footprint/lowmem/streaming/streamed_product.h"

#include <algorithm>
#include <utility>

#include "footprint/base/memory/alignment.h"
#include "footprint/base/simd/dense_product.h"
#include "footprint/lowmem/kernels/token_kernels.h"
#include "footprint/lowmem/kernels/token_panel.h"
#include "footprint/lowmem/weights/pinned_store.h"

namespace footprint {
namespace {

// The most bytes that a direct read fetches around a run of bytes: at each end
// a block of the disk, which is at most a page.
constexpr int64_t kDirectOverheadBytes = 2 * kPageBytes;

QuantisedView RowsOf(QuantisedView view, int64_t row, int64_t rows) {
  view.data = static_cast<const char*>(view.data) + row * view.row_stride_bytes;
  view.rows = rows;
  return view;
}

}  // namespace

StreamingNeeds ComputeNeeds(const WeightStore& store,
                            absl::Span<const Weight> matrices,
                            absl::Span<const Weight> tensors,
                            Arithmetic arithmetic) {
  StreamingNeeds needs;
  needs.largest_block_bytes = 0;
  needs.uses_slots = false;
  for (const Weight& matrix : matrices) {
    const int64_t bytes =
        BytesOfElements(matrix.dtype(), StreamingNeeds::kBlockElements);
    needs.largest_block_bytes = std::max(needs.largest_block_bytes, bytes);
    needs.smallest_block_bytes = std::min(needs.smallest_block_bytes, bytes);
    needs.rounds_inputs |=
        arithmetic == Arithmetic::kInt8 && HasInt8Product(matrix.dtype());
    // Backends that use weights in place may also need slots: a tensor that
    // begins in the middle of an element must be copied.
    const absl::StatusOr<Tile> tile = matrix.Block(
        0, std::min<int64_t>(2, matrix.rows()), 0, matrix.block_columns());
    needs.uses_slots |= !tile.ok() || store.SlotBytes(*tile) > 0;
    needs.reads_around_blocks |= store.backend() == WeightBackend::kDirect &&
                                 matrix.block_columns() == matrix.columns() &&
                                 matrix.columns() > kSumBlock;
  }
  if (store.backend() == WeightBackend::kDirect) {
    needs.slot_overhead_bytes = kDirectOverheadBytes;
    needs.reads_ahead = true;
  }
  for (const Weight& weight : tensors) {
    needs.pinnable_bytes.push_back(PinnedStore::PinnedBytes(weight.tensor()));
  }
  return needs;
}

void StreamedProduct::UseSingleTokens(const PanelView& input, int64_t features,
                                      absl::Span<const SingleToken> tokens) {
  single_token_ = true;
  is_rounded_ = false;
  tokens_ = tokens;
  token_features_ = features;
  const int64_t stride = tokens.size() == 1 ? 1 : kPanelTokens;
  for (int64_t i = 0; i < static_cast<int64_t>(tokens.size()); ++i) {
    const float* const from =
        input.data + tokens[i].panel * input.panel_stride + tokens[i].lane;
    float* const to = memory_.dense +
                      i / kPanelTokens * features * kPanelTokens +
                      i % kPanelTokens;
    for (int64_t feature = 0; feature < features; ++feature) {
      to[feature * stride] = from[feature * kPanelTokens];
    }
  }
}

void StreamedProduct::UseSingleToken(const float* panel, int64_t features) {
  static constexpr SingleToken kFirst;
  UseSingleTokens({panel, 0}, features, absl::MakeConstSpan(&kFirst, 1));
}

// Returns a tile of as many rows as the slot holds.
absl::StatusOr<Tile> StreamedProduct::NextTile(
    const Weight& matrix, int64_t row, int64_t row_end,
    const IndexRange& columns) const {
  const int64_t row_bytes = BytesOfElements(matrix.dtype(), columns.size());
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
    // Direct reads of rows with gaps need whole blocks for each row.
    rows = std::max<int64_t>(
        1, std::min(rows - 1, rows * memory_.slot_bytes / needed));
  }
}

// Returns rows of a tile as dense floats.
MatrixView StreamedProduct::Widened(DType type, int64_t rows, int64_t columns,
                                    const TileView& view) {
  if (type == DType::kF32) {
    return {static_cast<const float*>(view.data),
            view.row_stride_bytes / static_cast<int64_t>(sizeof(float)), 1};
  }
  for (int64_t row = 0; row < rows; ++row) {
    WidenToFloat(
        type, static_cast<const char*>(view.data) + row * view.row_stride_bytes,
        columns, memory_.wide + row * columns);
  }
  return {memory_.wide, columns, 1};
}

void StreamedProduct::MultiplyTile(const Weight& matrix, const Tile& tile,
                                   const TileView& view, int64_t first_column,
                                   const PanelView& input, int64_t panels,
                                   const ProductEpilogue& epilogue,
                                   const PanelOutput& output) {
  const DType type = matrix.dtype();
  const int64_t columns = ElementsOfBytes(type, tile.row_bytes);
  if (UsesInt8(type)) {
    MultiplyInt8({type, view.data, view.row_stride_bytes, tile.rows, columns},
                 first_column, panels, epilogue, output);
    return;
  }
  if (panels == 0 && tokens_.size() == 1) {
    MultiplyVector(type, view.data,
                   ElementsOfBytes(type, view.row_stride_bytes), tile.rows,
                   columns, memory_.dense + first_column, epilogue,
                   OutputOf(0, output), output.row_stride);
    return;
  }
  MultiplyRows(type, tile.rows, columns, view, first_column, input, panels,
               epilogue, output);
}

template <class PartOfRows>
void StreamedProduct::MultiplySingleTokens(int64_t rows,
                                           const ProductEpilogue& epilogue,
                                           const PanelOutput& output,
                                           const PartOfRows& multiply) {
  constexpr int64_t kRows = 64;
  alignas(kLineBytes) float sums[kRows * kPanelTokens] = {};
  const auto tokens = static_cast<int64_t>(tokens_.size());
  for (int64_t begin = 0; begin < tokens; begin += kPanelTokens) {
    const int64_t end = std::min(tokens, begin + kPanelTokens);
    for (int64_t row = 0; row < rows; row += kRows) {
      const int64_t count = std::min(kRows, rows - row);
      Epilogue part = epilogue;
      if (part.bias != nullptr) part.bias += row;
      // Calls act(place in the sums, place in the output).
      const auto for_each = [&](const auto& act) {
        for (int64_t token = begin; token < end; ++token) {
          float* const outputs =
              OutputOf(token, output) + row * output.row_stride;
          for (int64_t i = 0; i < count; ++i) {
            act(sums[i * kPanelTokens + token - begin],
                outputs[i * output.row_stride]);
          }
        }
      };
      if (part.accumulate) for_each([](float& sum, float out) { sum = out; });
      multiply(row, count, begin / kPanelTokens, part,
               PanelOutput{sums, kPanelTokens, 0});
      for_each([](float sum, float& out) { out = sum; });
    }
    for (int64_t token = begin; token < end; ++token) {
      ActivateVector(epilogue.activation, rows, OutputOf(token, output),
                     output.row_stride);
    }
  }
}

void StreamedProduct::Round(const PanelView& input, int64_t columns,
                            int64_t panels) {
  is_rounded_ = true;
  rounded_columns_ = columns;
  rounded_tokens_ = memory_.rounded;
  if (panels > 0) {
    RoundPanels(input, columns, panels, memory_.rounded);
    rounded_tokens_ += Int8Bytes(columns, panels * kPanelTokens);
  }
  const auto tokens = static_cast<int64_t>(tokens_.size());
  if (tokens == 1) {
    RoundVector(memory_.dense, columns, rounded_tokens_);
  } else if (tokens > 1) {
    RoundPanels({memory_.dense, token_features_ * kPanelTokens}, columns,
                PanelCount(tokens), rounded_tokens_);
  }
}

void StreamedProduct::MultiplyInt8(const QuantisedView& rows,
                                   int64_t first_column, int64_t panels,
                                   const ProductEpilogue& epilogue,
                                   const PanelOutput& output) {
  if (tokens_.size() == 1) {
    float* const to = OutputOf(0, output);
    MultiplyInt8Vector(rows, {rounded_tokens_, rounded_columns_, first_column},
                       epilogue, to, output.row_stride);
    ActivateVector(epilogue.activation, rows.rows, to, output.row_stride);
  } else if (!tokens_.empty()) {
    MultiplySingleTokens(
        rows.rows, epilogue, output,
        [&](int64_t row, int64_t count, int64_t panel,
            const Epilogue& part_epilogue, const PanelOutput& part_output) {
          MultiplyInt8Rows(
              RowsOf(rows, row, count),
              {rounded_tokens_ +
                   panel * Int8Bytes(rounded_columns_, kPanelTokens),
               rounded_columns_, first_column},
              1, {part_epilogue}, part_output);
        });
  }
  if (panels == 0) return;
  MultiplyInt8Rows(rows, {memory_.rounded, rounded_columns_, first_column},
                   panels, epilogue, output);
}

// Multiplies as many rows at a time as can be unpacked in the buffer of floats.
void StreamedProduct::MultiplyInt8Rows(const QuantisedView& rows,
                                       const RoundedView& input, int64_t panels,
                                       const ProductEpilogue& epilogue,
                                       const PanelOutput& output) {
  const int64_t wide_bytes =
      memory_.wide_count * static_cast<int64_t>(sizeof(float));
  const int64_t most =
      std::max<int64_t>(1, wide_bytes / Int8RowBytes(rows.columns));
  for (int64_t row = 0; row < rows.rows; row += most) {
    const QuantisedView part =
        RowsOf(rows, row, std::min(most, rows.rows - row));
    Epilogue part_epilogue = epilogue;
    if (epilogue.bias != nullptr) part_epilogue.bias = epilogue.bias + row;
    const PanelOutput part_output = {output.data + row * output.row_stride,
                                     output.row_stride, output.panel_stride};
    MultiplyInt8Panels(part, input, panels, part_epilogue, part_output,
                       reinterpret_cast<char*>(memory_.wide));
    ActivatePanels(epilogue.activation, part.rows, panels, part_output);
  }
}

void StreamedProduct::MultiplyWidened(const MatrixView& rows, int64_t count,
                                      int64_t columns, int64_t first_column,
                                      const ProductEpilogue& epilogue,
                                      const PanelOutput& output) {
  if (tokens_.size() == 1) {
    MultiplyVector(DType::kF32, rows.data, rows.row_stride, count, columns,
                   memory_.dense + first_column, epilogue, OutputOf(0, output),
                   output.row_stride);
    return;
  }
  const int64_t stride = token_features_ * kPanelTokens;
  MultiplySingleTokens(
      count, epilogue, output,
      [&](int64_t row, int64_t some, int64_t panel,
          const Epilogue& part_epilogue, const PanelOutput& part_output) {
        MultiplyPanelsAsVectors(
            rows.data + row * rows.row_stride, rows.row_stride, some, columns,
            {memory_.dense + panel * stride + first_column * kPanelTokens, 0},
            1, part_epilogue, part_output);
      });
}

// Multiplies as many rows at a time as fit into the buffer of floats. Panels
// and single tokens share a row's conversion, which keeps their bits.
void StreamedProduct::MultiplyRows(DType type, int64_t rows, int64_t columns,
                                   const TileView& view, int64_t first_column,
                                   const PanelView& input, int64_t panels,
                                   const ProductEpilogue& epilogue,
                                   const PanelOutput& output) {
  const int64_t most =
      type == DType::kF32
          ? rows
          : std::max<int64_t>(
                1, memory_.wide_count / std::max<int64_t>(1, columns));
  for (int64_t row = 0; row < rows; row += most) {
    const int64_t count = std::min(most, rows - row);
    TileView part = view;
    part.data =
        static_cast<const char*>(view.data) + row * view.row_stride_bytes;
    ProductEpilogue part_epilogue = epilogue;
    if (epilogue.bias != nullptr) part_epilogue.bias = epilogue.bias + row;
    const MatrixView widened = Widened(type, count, columns, part);
    const PanelOutput part_output = {output.data + row * output.row_stride,
                                     output.row_stride, output.panel_stride};
    MultiplyWidened(widened, count, columns, first_column, part_epilogue,
                    part_output);
    if (panels == 0) continue;
    MultiplyPanels(
        widened, count, columns,
        {input.data + first_column * kPanelTokens, input.panel_stride}, panels,
        part_epilogue, part_output);
  }
}

absl::Status StreamedProduct::Multiply(const Weight& matrix,
                                       const IndexRange& rows,
                                       const IndexRange& columns,
                                       const PanelView& input, int64_t panels,
                                       const ProductEpilogue& epilogue,
                                       const PanelOutput& output) {
  const int64_t block_columns = matrix.block_columns();
  if (schedule_ == nullptr && !is_rounded_ && UsesInt8(matrix.dtype())) {
    Round(input, columns.size(), panels);
  }
  for (int64_t column = columns.begin; column < columns.end;) {
    // A tile ends with the file's column block.
    const int64_t column_end =
        std::min(columns.end, (column / block_columns + 1) * block_columns);
    const bool first = column == columns.begin;
    const bool last = column_end == columns.end;
    for (int64_t row = rows.begin; row < rows.end;) {
      const absl::StatusOr<Tile> tile =
          NextTile(matrix, row, rows.end, {column, column_end});
      if (!tile.ok()) return tile.status();
      if (schedule_ != nullptr) {
        RecordTile(*tile, tile->rows, column_end - column);
        row += tile->rows;
        continue;
      }
      const absl::StatusOr<TileView> view = LoadTile(*tile);
      if (!view.ok()) return view.status();
      const int64_t done = row - rows.begin;
      ProductEpilogue tile_epilogue;
      if (first && epilogue.bias != nullptr)
        tile_epilogue.bias = epilogue.bias + done;
      tile_epilogue.accumulate = epilogue.accumulate || !first;
      if (last) tile_epilogue.activation = epilogue.activation;
      MultiplyTile(matrix, *tile, *view, column - columns.begin, input, panels,
                   tile_epilogue,
                   {output.data + done * output.row_stride, output.row_stride,
                    output.panel_stride});
      row += tile->rows;
    }
    column = column_end;
  }
  return absl::OkStatus();
}

// A tile that needs no slot is used in place. A tile that does not fit the slot
// is read run by run.
bool StreamedProduct::IsStreamed(const Tile& tile) const {
  const int64_t slot_bytes = store_->SlotBytes(tile);
  return slot_bytes > 0 && slot_bytes <= memory_.slot_bytes;
}

void StreamedProduct::RecordTile(const Tile& tile, int64_t outputs,
                                 int64_t inputs) {
  schedule_->work.Add(tile, outputs, inputs);
  if (IsStreamed(tile)) schedule_->Add(tile);
}

absl::Status StreamedProduct::SkipTo(int64_t index) {
  if (stream_ == nullptr) return absl::OkStatus();
  // If the last part of the schedule has no tile, its index is the schedule's
  // size. No tile is read there, so any valid index will do.
  index %= static_cast<int64_t>(stream_schedule_.size());
  if (index == next_tile_) return absl::OkStatus();
  lease_.Release();
  const absl::Status status = stream_->Rewind(index);
  next_tile_ = status.ok() ? index : -1;
  return status;
}

absl::StatusOr<TileView> StreamedProduct::NextOfStream(const Tile& tile) {
  // The stream reads into the released slot while this tile is in use.
  lease_.Release();
  next_tile_ = -1;
  absl::StatusOr<TileLease> lease = stream_->Next();
  if (!lease.ok()) return lease.status();
  const int64_t index = lease->index();
  const Tile& planned = stream_schedule_[index];
  if (planned.offset_bytes != tile.offset_bytes ||
      planned.row_bytes != tile.row_bytes || planned.rows != tile.rows) {
    return absl::InternalError("tiles are used in another order than recorded");
  }
  lease_ = *std::move(lease);
  next_tile_ = (index + 1) % static_cast<int64_t>(stream_schedule_.size());
  TileView view;
  view.data = lease_.data();
  view.row_stride_bytes = lease_.row_stride_bytes();
  return view;
}

absl::StatusOr<TileView> StreamedProduct::LoadTile(const Tile& tile) {
  if (stream_ != nullptr && IsStreamed(tile)) return NextOfStream(tile);
  if (store_->SlotBytes(tile) <= memory_.slot_bytes) {
    return store_->Load(tile, memory_.slot);
  }
  if (tile.size_bytes() > memory_.slot_bytes) {
    return absl::InternalError("a plan's slot holds no tile");
  }
  // Load would need whole blocks for each short row, so Read copies them.
  const absl::Status status = store_->Read(tile, memory_.slot);
  if (!status.ok()) return status;
  TileView view;
  view.data = memory_.slot;
  view.row_stride_bytes = tile.row_bytes;
  return view;
}

void StreamedProduct::MultiplyPart(const Weight& matrix, const Tile& tile,
                                   const TileView& view, const PanelView& input,
                                   int64_t panels, const RowParts& parts) {
  const PanelOutput output = {parts.output, kPanelTokens,
                              parts.most_rows * kPanelTokens};
  if (parts.single_tokens == 0) {
    MultiplyTile(matrix, tile, view, 0, input, panels, {}, output);
    return;
  }
  for (int64_t token = 0; token < parts.single_tokens; ++token) {
    const int64_t panel = token / kPanelTokens;
    const int64_t lane = token % kPanelTokens;
    UseSingleToken(input.data + panel * input.panel_stride + lane,
                   matrix.columns());
    if (UsesInt8(matrix.dtype())) Round(input, matrix.columns(), 0);
    MultiplyTile(matrix, tile, view, 0, input, 0, {},
                 {output.data + panel * output.panel_stride + lane,
                  output.row_stride, 0});
  }
}

absl::Status StreamedProduct::MultiplyInParts(const Weight& matrix,
                                              const IndexRange& rows,
                                              const PanelView& input,
                                              int64_t panels,
                                              const RowParts& parts) {
  UsePanels();
  if (parts.single_tokens == 0 && UsesInt8(matrix.dtype())) {
    Round(input, matrix.columns(), panels);
  }
  for (int64_t row = rows.begin; row < rows.end;) {
    const absl::StatusOr<Tile> tile =
        NextTile(matrix, row, rows.end, {0, matrix.columns()});
    if (!tile.ok()) return tile.status();
    const absl::StatusOr<TileView> view = LoadTile(*tile);
    if (!view.ok()) return view.status();
    for (int64_t done = 0; done < tile->rows; done += parts.most_rows) {
      Tile part = *tile;
      part.rows = std::min(parts.most_rows, tile->rows - done);
      TileView part_view = *view;
      part_view.data =
          static_cast<const char*>(view->data) + done * view->row_stride_bytes;
      MultiplyPart(matrix, part, part_view, input, panels, parts);
      const absl::Status status =
          parts.use({row + done, row + done + part.rows});
      if (!status.ok()) return status;
    }
    row += tile->rows;
  }
  return absl::OkStatus();
}

absl::Status StreamedProduct::RecordStrip(const Weight& matrix,
                                          const IndexRange& outputs,
                                          const IndexRange& inputs,
                                          int64_t most_rows) {
  for (int64_t row = inputs.begin; row < inputs.end; row += most_rows) {
    const int64_t rows = std::min(most_rows, inputs.end - row);
    const absl::StatusOr<Tile> tile =
        matrix.Block(row, rows, outputs.begin, outputs.size());
    if (!tile.ok()) return tile.status();
    RecordTile(*tile, outputs.size(), rows);
  }
  return absl::OkStatus();
}

// Handles a single token. Adds the rows of a tile to the sums of a block, and
// each finished block to the output.
absl::Status StreamedProduct::AddTransposedStrip(
    const Weight& matrix, const IndexRange& outputs, const IndexRange& inputs,
    const ProductEpilogue& epilogue, const PanelOutput& output) {
  const DType type = matrix.dtype();
  const int64_t element_bytes = DTypeBytes(type);
  const int64_t count = outputs.size();
  const int64_t most_rows =
      std::max<int64_t>(1, memory_.tile_bytes / (count * element_bytes));
  if (schedule_ != nullptr) {
    return RecordStrip(matrix, outputs, inputs, most_rows);
  }
  int64_t tile_end = inputs.begin;
  int64_t tile_begin = inputs.begin;
  TileView view;
  for (int64_t row = inputs.begin; row < inputs.end;) {
    const int64_t block_end = std::min(inputs.end, row + kSumBlock);
    std::fill_n(memory_.sums, count, 0.0f);
    const bool first = row == inputs.begin;
    while (row < block_end) {
      // Loads the next tile.
      if (row == tile_end) {
        const int64_t rows = std::min(most_rows, inputs.end - row);
        const absl::StatusOr<Tile> tile =
            matrix.Block(row, rows, outputs.begin, count);
        if (!tile.ok()) return tile.status();
        const absl::StatusOr<TileView> loaded = LoadTile(*tile);
        if (!loaded.ok()) return loaded.status();
        view = *loaded;
        tile_begin = row;
        tile_end = row + rows;
      }
      const int64_t end = std::min(block_end, tile_end);
      AddScaledRows(type,
                    static_cast<const char*>(view.data) +
                        (row - tile_begin) * view.row_stride_bytes,
                    view.row_stride_bytes / element_bytes, end - row, count,
                    memory_.dense + (row - inputs.begin), memory_.sums);
      row = end;
    }
    for (int64_t i = 0; i < count; ++i) {
      // The first block adds to the start value, and each other block to the
      // blocks before it.
      const float before = output.data[i * output.row_stride];
      const float bias =
          first && epilogue.bias != nullptr ? epilogue.bias[i] : 0.0f;
      const float start = epilogue.accumulate || !first ? before + bias : bias;
      memory_.sums[i] = start + memory_.sums[i];
    }
    if (block_end == inputs.end)
      Activate(epilogue.activation, count, memory_.sums);
    for (int64_t i = 0; i < count; ++i) {
      output.data[i * output.row_stride] = memory_.sums[i];
    }
  }
  return absl::OkStatus();
}

// Handles many tokens: a tile is whole blocks of rows.
absl::Status StreamedProduct::MultiplyTransposedStrip(
    const Weight& matrix, const IndexRange& outputs, const IndexRange& inputs,
    const PanelView& input, int64_t panels, const ProductEpilogue& epilogue,
    const PanelOutput& output) {
  const DType type = matrix.dtype();
  const int64_t row_bytes = outputs.size() * DTypeBytes(type);
  const int64_t most_rows = std::max(
      kSumBlock, memory_.tile_bytes / row_bytes / kSumBlock * kSumBlock);
  if (schedule_ != nullptr) {
    return RecordStrip(matrix, outputs, inputs, most_rows);
  }
  for (int64_t row = inputs.begin; row < inputs.end; row += most_rows) {
    const int64_t rows = std::min(most_rows, inputs.end - row);
    const absl::StatusOr<Tile> tile =
        matrix.Block(row, rows, outputs.begin, outputs.size());
    if (!tile.ok()) return tile.status();
    const absl::StatusOr<TileView> view = LoadTile(*tile);
    if (!view.ok()) return view.status();
    const MatrixView weights = Widened(type, rows, outputs.size(), *view);
    const bool first = row == inputs.begin;
    ProductEpilogue tile_epilogue;
    if (first) tile_epilogue.bias = epilogue.bias;
    tile_epilogue.accumulate = epilogue.accumulate || !first;
    if (row + rows == inputs.end)
      tile_epilogue.activation = epilogue.activation;
    MultiplyPanels(
        {weights.data, 1, weights.row_stride}, outputs.size(), rows,
        {input.data + (row - inputs.begin) * kPanelTokens, input.panel_stride},
        panels, tile_epilogue, output);
  }
  return absl::OkStatus();
}

absl::Status StreamedProduct::MultiplyTransposed(
    const Weight& matrix, const IndexRange& outputs, const IndexRange& inputs,
    const PanelView& input, int64_t panels, const ProductEpilogue& epilogue,
    const PanelOutput& output) {
  const int64_t element_bytes = DTypeBytes(matrix.dtype());
  const int64_t block_columns = matrix.block_columns();
  // A tile holds a block of rows, or fewer if there are fewer inputs.
  const int64_t block_rows = std::min(kSumBlock, inputs.size());
  const int64_t widest =
      single_token_
          ? std::min(memory_.sum_count, memory_.tile_bytes / element_bytes)
          : std::max<int64_t>(
                1, memory_.tile_bytes / (block_rows * element_bytes));
  for (int64_t begin = outputs.begin; begin < outputs.end;) {
    const int64_t end =
        std::min({outputs.end, (begin / block_columns + 1) * block_columns,
                  begin + widest});
    const int64_t done = begin - outputs.begin;
    ProductEpilogue strip_epilogue = epilogue;
    if (epilogue.bias != nullptr) strip_epilogue.bias = epilogue.bias + done;
    const PanelOutput strip = {output.data + done * output.row_stride,
                               output.row_stride, output.panel_stride};
    const absl::Status status =
        single_token_
            ? AddTransposedStrip(matrix, {begin, end}, inputs, strip_epilogue,
                                 strip)
            : MultiplyTransposedStrip(matrix, {begin, end}, inputs, input,
                                      panels, strip_epilogue, strip);
    if (!status.ok()) return status;
    begin = end;
  }
  return absl::OkStatus();
}

}  // namespace footprint
