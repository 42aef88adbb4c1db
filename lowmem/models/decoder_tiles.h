// Lists the tiles that one worker of a decoder reads, in the order of their
// use, so that they can be read ahead.
//
//   TileList list;  // without capacity, it only counts
//   absl::StatusOr<DecoderTiles> starts =
//       RecordDecoderTiles(weights, plan, store, worker, &list);
//
// The list has the tiles of the layers for a single token, then those of the
// output, which follow in generation, then those of the layers for many tokens.
// With room for several sequences, it has the layers for many tokens first,
// which serve single ones, too. The tiles must be those of the products in
// decoder_pass.cc: a run that needs another tile ends with an error. The caller
// owns the list, which gets copies; nothing else is kept. Thread-safe for
// different lists. Memory: none. Errors are Weight's.

#ifndef FOOTPRINT_LOWMEM_MODELS_DECODER_TILES_H_
#define FOOTPRINT_LOWMEM_MODELS_DECODER_TILES_H_

#include <array>
#include <cstdint>

#include "absl/status/statusor.h"
#include "footprint/lowmem/models/decoder_plan.h"
#include "footprint/lowmem/models/decoder_weights.h"
#include "footprint/lowmem/streaming/pass_time.h"
#include "footprint/lowmem/streaming/streamed_product.h"
#include "footprint/lowmem/streaming/tile_recorder.h"
#include "footprint/lowmem/weights/weight_store.h"
#include "footprint/lowmem/workers/step_team.h"

namespace footprint::lowmem_internal {

// The queries, the keys or the values of a layer.
struct HeadPart {
  const LinearPart* linear;
  // The features of one head of keys, or of all query heads that share one.
  int64_t features;

  // Returns the outputs of the matrix that belong to these heads of keys.
  IndexRange OutputsOf(const IndexRange& heads) const {
    return {linear->first_output + heads.begin * features,
            linear->first_output + heads.end * features};
  }
};

// Returns queries, keys and values, in the order in which they are multiplied.
std::array<HeadPart, 3> HeadParts(const DecoderLayerWeights& layer,
                                  const DecoderConfig& config);

// Returns the shape of a layer according to the plan.
LayerShape MakeLayerShape(const DecoderPlan& plan);

// The positions in the list where its parts begin (a single token's layers
// begin at 0), and the work of each part.
struct DecoderTiles {
  int64_t output = 0;
  int64_t many_tokens = 0;
  TileWork single_token_work;
  TileWork output_work;
  TileWork many_tokens_work;
};

absl::StatusOr<DecoderTiles> RecordDecoderTiles(const DecoderWeights& weights,
                                                const DecoderPlan& plan,
                                                WeightStore* store, int worker,
                                                TileList* list);

}  // namespace footprint::lowmem_internal

// Tested by decoder_test and decoder_golden_test.

#endif  // FOOTPRINT_LOWMEM_MODELS_DECODER_TILES_H_
