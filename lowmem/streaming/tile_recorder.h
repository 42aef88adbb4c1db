// Writes down which tiles a worker's products load in a layer: what the lists
// of encoder_tiles.h and decoder_tiles.h have in common.
//
//   TileRecorder recorder(shape, worker, store, sizes, &list);
//   status = recorder.Add(layer.query, rows, {0, shape.hidden});
//   status = recorder.AfterHeads(layer.attention_output, {},
//                                {&layer.expand}, layer.contract);
//
// The store and the list must outlive it. Thread-compatible. Memory: none.
// Errors are Weight's.

#ifndef FOOTPRINT_LOWMEM_STREAMING_TILE_RECORDER_H_
#define FOOTPRINT_LOWMEM_STREAMING_TILE_RECORDER_H_

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "footprint/lowmem/streaming/streamed_product.h"
#include "footprint/lowmem/weights/weight_store.h"
#include "footprint/lowmem/workers/step_team.h"

namespace footprint::lowmem_internal {

// The outputs of a matrix from one of them on; of no matrix where that is null.
struct MatrixPart {
  const Weight* matrix = nullptr;
  int64_t first_output = 0;
};

struct LayerShape {
  int64_t hidden = 0;
  int64_t attended = 0;  // features of attention's context
  int64_t intermediate = 0;
  int64_t chunk_features = 0;  // of these, at a time
  int workers = 1;
  // Outputs are dealt to workers in runs of this many.
  int64_t output_unit = 1;
  // Matrices are [inputs, outputs].
  bool is_transposed = false;
};

class TileRecorder {
 public:
  TileRecorder(const LayerShape& shape, int worker, WeightStore* store,
               const ProductMemory& sizes, TileList* list);

  // Returns the product, to say how many tokens there are, or for products of
  // another kind.
  StreamedProduct& product() { return product_; }

  IndexRange Share(int64_t count, int64_t unit) const {
    return ComputeShare(count, unit, worker_, shape_.workers);
  }

  absl::Status Add(const Weight& matrix, const IndexRange& outputs,
                   const IndexRange& inputs);

  // Adds the tiles that follow attention's heads: their output, and the
  // feed-forward part, chunk after chunk, with a gate if it has one.
  absl::Status AfterHeads(const Weight& attention_output,
                          const MatrixPart& gate, const MatrixPart& expand,
                          const Weight& contract);

 private:
  const LayerShape shape_;
  const int worker_;
  StreamedProduct product_;
};

// Returns how many tiles the worker that has the most loads. record(worker,
// list) says which; what fails there fails when the run starts, and is said
// then.
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
