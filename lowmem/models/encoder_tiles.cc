#include "footprint/lowmem/models/encoder_tiles.h"

#include <cstdint>

#include "footprint/lowmem/kernels/token_panel.h"

namespace footprint::lowmem_internal {
namespace {

absl::Status RecordHeads(const EncoderLayerWeights& layer,
                         const EncoderConfig& config, TileRecorder* recorder) {
  absl::Status status;
  const int64_t features = config.head_features();
  const IndexRange heads = recorder->Share(config.heads, 1);
  for (int64_t head = heads.begin; head < heads.end; ++head) {
    const IndexRange rows = {head * features, (head + 1) * features};
    for (const LinearWeights* linear :
         {&layer.query, &layer.key, &layer.value}) {
      status.Update(recorder->Add(linear->matrix, rows, {0, config.hidden}));
    }
  }
  return status;
}

}  // namespace

LayerShape MakeLayerShape(const EncoderPlan& plan) {
  LayerShape shape;
  shape.hidden = plan.request.config.hidden;
  shape.attended = shape.hidden;
  shape.intermediate = plan.request.config.intermediate;
  shape.chunk_features = plan.chunk_features;
  shape.workers = plan.request.workers;
  shape.output_unit = kPanelTokens;
  return shape;
}

absl::Status RecordEncoderTiles(const EncoderWeights& weights,
                                const EncoderPlan& plan, WeightStore* store,
                                int worker, TileList* list) {
  const EncoderConfig& config = plan.request.config;
  ProductMemory sizes;
  sizes.tile_bytes = plan.tile_bytes;
  sizes.slot_bytes = plan.part_bytes(plan.slots) / plan.depth;
  TileRecorder recorder(MakeLayerShape(plan), worker, store, sizes, list);
  for (const EncoderLayerWeights& layer : weights.layers) {
    absl::Status status = RecordHeads(layer, config, &recorder);
    status.Update(recorder.AfterHeads(layer.attention_output.matrix, {},
                                      {&layer.expand.matrix},
                                      layer.contract.matrix));
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace footprint::lowmem_internal
