// Records the tiles that a worker's products load in a layer. encoder_tiles.h
// and decoder_tiles.h share it.
//
//   TileRecorder recorder(shape, worker, store, sizes, &list);
//   status = recorder.Add(layer.query, rows, {0, shape.hidden});
//   status = recorder.AfterHeads(layer.attention_output, {},
//                                {&layer.expand}, layer.contract);
//
// The store and the list must outlive the recorder. Thread-compatible. Memory:
// none. Errors are those of StreamedProduct.

#ifndef FOOTPRINT_LOWMEM_STREAMING_TILE_RECORDER_H_
#define FOOTPRINT_LOWMEM_STREAMING_TILE_RECORDER_H_

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "footprint/lowmem/streaming/streamed_product.h"
#include "footprint/lowmem/weights/weight_store.h"
#include "footprint/lowmem/workers/step_team.h"

namespace footprint::lowmem_internal {

// The outputs of a matrix from `first_output` on. `matrix` is null if there is
// no such matrix.
struct MatrixPart {
  const Weight* matrix = nullptr;
  int64_t first_output = 0;
};

struct LayerShape {
  int64_t hidden = 0;
  int64_t attended = 0;  // features of attention's context
  int64_t intermediate = 0;
  int64_t chunk_features = 0;  // of the intermediate ones, at a time
  int workers = 1;
  // Outputs are divided among workers in runs of this many.
  int64_t output_unit = 1;
  // Matrices are stored as [inputs, outputs].
  bool is_transposed = false;
};

class TileRecorder {
 public:
  TileRecorder(const LayerShape& shape, int worker, WeightStore* store,
               const ProductMemory& sizes, TileList* list);

  // Returns the product, to set the number of tokens or to record other
  // products.
  StreamedProduct& product() { return product_; }

  IndexRange Share(int64_t count, int64_t unit) const {
    return ComputeShare(count, unit, worker_, shape_.workers);
  }

  absl::Status Add(const Weight& matrix, const IndexRange& outputs,
                   const IndexRange& inputs);

  // Adds the tiles after attention's heads: those of the output, and of the
  // feed-forward part, chunk by chunk, with the gate if it has one.
  absl::Status AfterHeads(const Weight& attention_output,
                          const MatrixPart& gate, const MatrixPart& expand,
                          const Weight& contract);

 private:
  const LayerShape shape_;
  const int worker_;
  StreamedProduct product_;
};

// Returns the largest number of tiles that a worker loads. record(worker, list)
// records a worker's tiles. Its errors are ignored here, because the start of a
// run reports them.
template <class Record>
int64_t MostTiles(int workers, const Record& record) {
  int64_t most = 0;
  for (int worker = 0; worker < workers; ++worker) {
    TileList list;
    record(worker, &list).IgnoreError();
    most = std::max(most, list.count);
  }
  return most;
}

}  // namespace footprint::lowmem_internal

// Tested by //lowmem/models:encoder_test and //lowmem/models:decoder_test.

#endif  // FOOTPRINT_LOWMEM_STREAMING_TILE_RECORDER_H_
