// Lists the tiles that one worker of an encoder reads in a pass, in the order
// of their use, so that they can be read ahead.
//
//   TileList list;  // without capacity, it only counts
//   absl::Status status = RecordEncoderTiles(weights, plan, store, worker,
//                                            &list);
//
// The tiles must be those of the products in encoder_pass.cc: a run that needs
// another tile ends with an error. The caller owns the list, which gets copies;
// nothing else is kept. Thread-safe for different lists. Memory: none. Errors
// are those of StreamedProduct.

#ifndef FOOTPRINT_LOWMEM_MODELS_ENCODER_TILES_H_
#define FOOTPRINT_LOWMEM_MODELS_ENCODER_TILES_H_

#include "absl/status/status.h"
#include "footprint/lowmem/models/encoder_plan.h"
#include "footprint/lowmem/models/encoder_weights.h"
#include "footprint/lowmem/streaming/streamed_product.h"
#include "footprint/lowmem/streaming/tile_recorder.h"
#include "footprint/lowmem/weights/weight_store.h"

namespace footprint::lowmem_internal {

// Returns the shape of a layer according to the plan.
LayerShape MakeLayerShape(const EncoderPlan& plan);

absl::Status RecordEncoderTiles(const EncoderWeights& weights,
                                const EncoderPlan& plan, WeightStore* store,
                                int worker, TileList* list);

}  // namespace footprint::lowmem_internal

// Tested by encoder_test and encoder_golden_test.

#endif  // FOOTPRINT_LOWMEM_MODELS_ENCODER_TILES_H_
