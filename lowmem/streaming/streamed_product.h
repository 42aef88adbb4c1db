// A product with a matrix that is not in memory. Its tiles are loaded into a
// slot one after the other, multiplied, and dropped.
//
//   footprint::StreamedProduct product(store, {slot, slot_bytes, tile_bytes});
//   absl::Status status = product.Multiply(
//       weight, {0, 1024}, {0, 1024}, input, panels, epilogue, output);
//
// The result is bit for bit that of one MultiplyPanels or MultiplyVector (or of
// their like in int8_product.h, see ProductMemory) over the whole matrix,
// whatever the size of the slot, because column blocks begin at multiples of
// kSumBlock.
//
// After UseStream, tiles are read ahead in the order that Record wrote down.
//
// The store and the memory must outlive the product. Thread-compatible: each
// thread has its own. Movable. Memory: the given memory; nothing is allocated
// unless a read fails. Errors are the store's, and Internal if a slot cannot
// hold a row or a tile, or if tiles are used in another order than recorded.

#ifndef FOOTPRINT_LOWMEM_STREAMING_STREAMED_PRODUCT_H_
#define FOOTPRINT_LOWMEM_STREAMING_STREAMED_PRODUCT_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "footprint/lowmem/kernels/arithmetic.h"
#include "footprint/lowmem/kernels/int8_product.h"
#include "footprint/lowmem/kernels/matrix_product.h"
#include "footprint/lowmem/streaming/pass_time.h"
#include "footprint/lowmem/streaming/plan_growth.h"
#include "footprint/lowmem/weights/tile_stream.h"
#include "footprint/lowmem/weights/weight_store.h"
#include "footprint/lowmem/workers/step_team.h"

namespace footprint {

// Tiles in the order of their use. Tiles beyond `capacity` are counted but not
// stored.
struct TileList {
  void Add(const Tile& tile) {
    if (count < static_cast<int64_t>(capacity.size())) capacity[count] = tile;
    ++count;
  }
  bool is_complete() const {
    return count <= static_cast<int64_t>(capacity.size());
  }
  absl::Span<const Tile> tiles() const { return capacity.first(count); }

  absl::Span<Tile> capacity;
  int64_t count = 0;
  // The work of all tiles, including those that are used in place.
  TileWork work;
};

// Memory that a product may write to.
struct ProductMemory {
  char* slot = nullptr;  // at a multiple of kPageBytes
  int64_t slot_bytes = 0;
  // The most stored bytes in a tile, at most slot_bytes. MultiplyTransposed
  // needs those of kSumBlock elements for many tokens.
  int64_t tile_bytes = 0;
  // A buffer for rows of a tile as floats, if weights are stored narrower. It
  // holds all rows of a tile of 16-bit floats, and at least one row of a
  // quantised tile.
  float* wide = nullptr;
  int64_t wide_count = 0;
  // A buffer for the input of a single token, or for panels of several.
  float* dense = nullptr;
  // A buffer for the sums of a single token's product with a transposed matrix.
  float* sums = nullptr;
  int64_t sum_count = 0;
  // Room for the input rounded to eight bits: Int8Bytes of the panels, then of
  // the single token or of their panels. If it is not null,
  // products with quantised weights are those of int8_product.h.
  char* rounded = nullptr;
};

// Returns what products with these matrices need, for a plan that may pin
// `tensors`. The caller says how many of them are read as a whole
// (StreamingNeeds::whole_tensors).
StreamingNeeds ComputeNeeds(const WeightStore& store,
                            absl::Span<const Weight> matrices,
                            absl::Span<const Weight> tensors,
                            Arithmetic arithmetic = Arithmetic::kExact);

class StreamedProduct {
 public:
  StreamedProduct(WeightStore* store, const ProductMemory& memory)
      : store_(store), memory_(memory) {}

  // A token that is multiplied as a vector: its place in the input's panels,
  // and in those of the output.
  struct SingleToken {
    int64_t panel = 0;
    int64_t lane = 0;
    int64_t output_panel = 0;
    int64_t output_lane = 0;
  };
  // Copies the tokens' features from panels. Multiply then multiplies them
  // beside the panels of its `input`, until the next call of this kind or of
  // UsePanels. Each token has the bits that it has alone. `tokens` must stay
  // valid as long. A transposed matrix takes one token and no panels.
  void UseSingleTokens(const PanelView& input, int64_t features,
                       absl::Span<const SingleToken> tokens);
  // Does the same for the first token of a panel.
  void UseSingleToken(const float* panel, int64_t features);
  // From now on Multiply uses only its `input`. All calls until the next
  // UsePanels or UseSingleToken must have the same input, so that it is rounded
  // at most once.
  void UsePanels() {
    single_token_ = false;
    tokens_ = {};
    is_rounded_ = false;
  }

  // From now on, until Record(null), Multiply and MultiplyTransposed compute
  // nothing. They only add to `schedule` the tiles that they would load. The
  // tiles depend only on the ranges, the memory's sizes, and whether there is a
  // single token. Tiles that do not fit the slot are left out.
  void Record(TileList* schedule) { schedule_ = schedule; }
  void RecordSingleToken() { single_token_ = true; }
  // Takes the tiles from a stream that repeats `schedule`; both must outlive
  // the product or the next UseStream. With null, tiles are loaded when used.
  // The slot stays for tiles that are not in the schedule.
  void UseStream(TileStream* stream, absl::Span<const Tile> schedule) {
    lease_.Release();
    stream_ = stream;
    stream_schedule_ = schedule;
    next_tile_ = 0;
  }
  // Makes the tile at `index` of the stream's schedule the next one. Call it at
  // the beginning, and where the order of use departs from the schedule.
  absl::Status SkipTo(int64_t index);

  // Computes output(row - rows.begin, token) = activation(start + sum over
  // `columns` of matrix(row, column) input(column - columns.begin, token)).
  // `epilogue.bias` is that of rows.begin. columns.begin is a multiple of
  // kSumBlock.
  absl::Status Multiply(const Weight& matrix, const IndexRange& rows,
                        const IndexRange& columns, const PanelView& input,
                        int64_t panels, const ProductEpilogue& epilogue,
                        const PanelOutput& output);

  // Outputs that are used a part at a time, because there is no room for all.
  struct RowParts {
    // Takes `most_rows` outputs of every panel: [panel][row][token].
    float* output = nullptr;
    int64_t most_rows = 0;
    // This many tokens are multiplied one by one, as UseSingleToken does, so
    // their bits are those of a single token.
    int64_t single_tokens = 0;
    // Receives the rows of the outputs; row `begin` is the first.
    absl::FunctionRef<absl::Status(const IndexRange& rows)> use;
  };
  // Multiplies all columns of some rows, one part of the rows after the other,
  // without bias or activation. The matrix must have a single column block.
  absl::Status MultiplyInParts(const Weight& matrix, const IndexRange& rows,
                               const PanelView& input, int64_t panels,
                               const RowParts& parts);

  // Does the same as Multiply for a transposed matrix, as in GPT-2: its rows
  // are the columns above. A single token's output has the same bits as among
  // many.
  absl::Status MultiplyTransposed(const Weight& matrix,
                                  const IndexRange& outputs,
                                  const IndexRange& inputs,
                                  const PanelView& input, int64_t panels,
                                  const ProductEpilogue& epilogue,
                                  const PanelOutput& output);

 private:
  bool IsStreamed(const Tile& tile) const;
  void RecordTile(const Tile& tile, int64_t outputs, int64_t inputs);
  absl::StatusOr<TileView> NextOfStream(const Tile& tile);
  absl::StatusOr<TileView> LoadTile(const Tile& tile);
  MatrixView Widened(DType type, int64_t rows, int64_t columns,
                     const TileView& view);
  void MultiplyRows(DType type, int64_t rows, int64_t columns,
                    const TileView& view, int64_t first_column,
                    const PanelView& input, int64_t panels,
                    const ProductEpilogue& epilogue, const PanelOutput& output);
  // Multiplies rows by several single tokens, some rows and a panel of tokens
  // at a time: calls multiply(first row, rows, panel, epilogue, output).
  template <class PartOfRows>
  void MultiplySingleTokens(int64_t rows, const ProductEpilogue& epilogue,
                            const PanelOutput& output,
                            const PartOfRows& multiply);
  float* OutputOf(size_t token, const PanelOutput& output) const {
    return output.data + tokens_[token].output_panel * output.panel_stride +
           tokens_[token].output_lane;
  }
  bool UsesInt8(DType type) const {
    return memory_.rounded != nullptr && HasInt8Product(type);
  }
  void MultiplyPart(const Weight& matrix, const Tile& tile,
                    const TileView& view, const PanelView& input,
                    int64_t panels, const RowParts& parts);
  void Round(const PanelView& input, int64_t columns, int64_t panels);
  void MultiplyInt8(const QuantisedView& rows, int64_t first_column,
                    int64_t panels, const ProductEpilogue& epilogue,
                    const PanelOutput& output);
  // Multiplies rows by the single tokens.
  void MultiplyWidened(const MatrixView& rows, int64_t count, int64_t columns,
                       int64_t first_column, const ProductEpilogue& epilogue,
                       const PanelOutput& output);
  void MultiplyInt8Rows(const QuantisedView& rows, const RoundedView& input,
                        int64_t panels, const ProductEpilogue& epilogue,
                        const PanelOutput& output);
  absl::Status RecordStrip(const Weight& matrix, const IndexRange& outputs,
                           const IndexRange& inputs, int64_t most_rows);
  absl::Status AddTransposedStrip(const Weight& matrix,
                                  const IndexRange& outputs,
                                  const IndexRange& inputs,
                                  const ProductEpilogue& epilogue,
                                  const PanelOutput& output);
  absl::Status MultiplyTransposedStrip(const Weight& matrix,
                                       const IndexRange& outputs,
                                       const IndexRange& inputs,
                                       const PanelView& input, int64_t panels,
                                       const ProductEpilogue& epilogue,
                                       const PanelOutput& output);
  absl::StatusOr<Tile> NextTile(const Weight& matrix, int64_t row,
                                int64_t row_end,
                                const IndexRange& columns) const;
  void MultiplyTile(const Weight& matrix, const Tile& tile,
                    const TileView& view, int64_t first_column,
                    const PanelView& input, int64_t panels,
                    const ProductEpilogue& epilogue, const PanelOutput& output);

  WeightStore* store_;
  ProductMemory memory_;
  bool single_token_ = false;
  absl::Span<const SingleToken> tokens_;
  int64_t token_features_ = 0;
  bool is_rounded_ = false;  // whether the input is rounded
  int64_t rounded_columns_ = 0;
  char* rounded_tokens_ = nullptr;  // behind the rounded panels
  TileList* schedule_ = nullptr;
  TileStream* stream_ = nullptr;
  absl::Span<const Tile> stream_schedule_;
  int64_t next_tile_ = 0;  // of the stream; -1: unknown after an error
  TileLease lease_;        // of the tile in use
};

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_STREAMING_STREAMED_PRODUCT_H_
