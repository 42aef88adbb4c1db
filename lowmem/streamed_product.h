// A product with a matrix that is not in memory: its tiles are loaded one after
// the other into a slot, multiplied, and forgotten.
//
//   footprint::StreamedProduct product(store, {slot, slot_bytes, tile_bytes});
//   absl::Status status = product.Multiply(
//       weight, {0, 1024}, {0, 1024}, input, panels, ends, output);
//
// The result's bits are those of one MultiplyPanels over the whole matrix (or
// of one MultiplyVector), whatever the size of the slot: blocks of columns
// begin at multiples of kSumBlock.
//
// With UseStream tiles are read ahead, in the order that Record wrote down.
//
// The store and the memory must outlive the product. Thread-compatible: one for
// each thread. Movable. Memory: what it is given; nothing is allocated unless
// reading fails. Errors are the store's.

#ifndef FOOTPRINT_LOWMEM_STREAMED_PRODUCT_H_
#define FOOTPRINT_LOWMEM_STREAMED_PRODUCT_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "footprint/lowmem/arena_layout.h"
#include "footprint/lowmem/matrix_product.h"
#include "footprint/lowmem/step_team.h"
#include "footprint/lowmem/tile_stream.h"
#include "footprint/lowmem/weight_finder.h"
#include "footprint/lowmem/weight_store.h"

namespace footprint {

// What a product may write to.
struct ProductMemory {
  char* slot = nullptr;  // at a multiple of kSlotAlignmentBytes
  int64_t slot_bytes = 0;
  // The most stored bytes in a tile.
  int64_t tile_bytes = 0;
  // Room for a tile as floats, where weights are stored narrower.
  float* wide = nullptr;
  // Room for one token's input, where there is only one.
  float* dense = nullptr;
  // Room for the sums of one token's product with a transposed matrix.
  float* sums = nullptr;
  int64_t sum_count = 0;
};

// What products with these matrices need of a plan.
StreamingNeeds NeedsOf(const WeightStore& store,
                       absl::Span<const Weight> matrices);

// Reads a tile of elements of `type`, as floats one after the other.
absl::Status ReadAsFloats(WeightStore& store, ElementType type,
                          const Tile& tile, float* destination);

// Reads a row of a matrix that may be cut into panels of columns, as floats.
absl::Status ReadRow(WeightStore& store, const Weight& matrix, int64_t row,
                     float* destination);

class StreamedProduct {
 public:
  StreamedProduct(WeightStore* store, const ProductMemory& memory)
      : store_(store), memory_(memory) {}

  // With a single token, takes its features from panels; Multiply then uses
  // them until the next call, and looks at its own `input` no more.
  void UseSingleToken(const float* panel, int64_t features);
  void UsePanels() { single_token_ = false; }

  // From now on Multiply only says which tiles it would load: it adds them to
  // `schedule`, until it is null. They depend on nothing but the ranges, the
  // memory, and whether there is a single token.
  void Record(std::vector<Tile>* schedule) { schedule_ = schedule; }
  // Tiles come from a stream of what was recorded, which must outlive the
  // product or the next UseStream; null: they are loaded when used.
  void UseStream(TileStream* stream) {
    ReleaseTile();
    stream_ = stream;
  }
  // Ends the use of the last tile.
  void ReleaseTile() { lease_.Release(); }

  // output(row - rows.begin, token) = activation(start + sum over `columns` of
  // matrix(row, column) input(column - columns.begin, token)).
  // `ends.bias` is that of rows.begin. columns.begin is a multiple of
  // kSumBlock.
  absl::Status Multiply(const Weight& matrix, const IndexRange& rows,
                        const IndexRange& columns, const PanelView& input,
                        int64_t panels, const ProductEnds& ends,
                        const PanelOutput& output);

  // The same for a matrix that lies transposed, as GPT-2's do: its rows are the
  // columns above. A single token's output has the bits that it has among many.
  absl::Status MultiplyTransposed(const Weight& matrix,
                                  const IndexRange& outputs,
                                  const IndexRange& inputs,
                                  const PanelView& input, int64_t panels,
                                  const ProductEnds& ends,
                                  const PanelOutput& output);

 private:
  void RecordTile(const Tile& tile);
  absl::StatusOr<TileView> LoadTile(const Tile& tile);
  MatrixView Widened(ElementType type, const Tile& tile, const TileView& view);
  absl::Status AddTransposedStrip(const Weight& matrix,
                                  const IndexRange& outputs,
                                  const IndexRange& inputs,
                                  const ProductEnds& ends,
                                  const PanelOutput& output);
  absl::Status MultiplyTransposedStrip(const Weight& matrix,
                                       const IndexRange& outputs,
                                       const IndexRange& inputs,
                                       const PanelView& input, int64_t panels,
                                       const ProductEnds& ends,
                                       const PanelOutput& output);
  absl::StatusOr<Tile> NextTile(const Weight& matrix, int64_t row,
                                int64_t row_end,
                                const IndexRange& columns) const;
  void MultiplyTile(const Weight& matrix, const Tile& tile,
                    const TileView& view, int64_t first_column,
                    const PanelView& input, int64_t panels,
                    const ProductEnds& ends, const PanelOutput& output);

  WeightStore* store_;
  ProductMemory memory_;
  bool single_token_ = false;
  std::vector<Tile>* schedule_ = nullptr;
  TileStream* stream_ = nullptr;
  TileLease lease_;  // of the tile in use
};

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_STREAMED_PRODUCT_H_
