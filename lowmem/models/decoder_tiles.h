// The tiles that one worker of a decoder reads, in the order of their use; the
// list for reading ahead.
//
//   TileList list;  // without capacity: they are counted
//   absl::StatusOr<DecoderTiles> starts =
//       RecordDecoderTiles(weights, plan, store, worker, &list);
//
// First those of the layers for a single token, then those of the output, which
// follow it in generation, then those of the layers for many tokens. They are
// those of the products in decoder_pass.cc; a run that asks for another ends
// with an error. The list is the caller's and gets copies; nothing else is
// kept. Thread-safe for different lists. Memory: none. Errors are Weight's.

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
  // The features of one head of keys, or of all heads of queries that share
  // one.
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

// A layer as the plan has it computed.
LayerShape MakeLayerShape(const DecoderPlan& plan);

// The places where parts of the list begin, and the work of each part; a single
// token's layers begin at 0. And the work of each part.
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
