#include "footprint/lowmem/models/decoder_tiles.h"

#include <utility>

#include "absl/status/status.h"
#include "footprint/lowmem/kernels/token_panel.h"

namespace footprint::lowmem_internal {
namespace {

// Queries, keys, values.
absl::Status RecordHeads(const DecoderLayerWeights& layer,
                         const DecoderConfig& config, TileRecorder* recorder) {
  absl::Status status;
  const int64_t features = config.head_features();
  const IndexRange heads = recorder->Share(config.heads, 1);
  for (int64_t first = 0; first < 3 * config.hidden; first += config.hidden) {
    status.Update(recorder->Add(
        layer.attention.matrix,
        {first + heads.begin * features, first + heads.end * features},
        {0, config.hidden}));
  }
  return status;
}

absl::Status RecordLayers(const DecoderWeights& weights,
                          const DecoderConfig& config, TileRecorder* recorder) {
  absl::Status status;
  for (const DecoderLayerWeights& layer : weights.layers) {
    status.Update(RecordHeads(layer, config, recorder));
    status.Update(recorder->AfterHeads(layer.attention_output.matrix,
                                       layer.expand.matrix,
                                       layer.contract.matrix));
  }
  return status;
}

}  // namespace

LayerShape MakeLayerShape(const DecoderPlan& plan) {
  LayerShape shape;
  shape.hidden = plan.request.config.hidden;
  shape.intermediate = plan.request.config.intermediate;
  shape.chunk_features = plan.chunk_features;
  shape.workers = plan.request.workers;
  shape.output_unit = kOutputUnit;
  shape.is_transposed = true;
  return shape;
}

absl::StatusOr<DecoderTiles> RecordDecoderTiles(const DecoderWeights& weights,
                                                const DecoderPlan& plan,
                                                WeightStore* store, int worker,
                                                TileList* list) {
  const DecoderConfig& config = plan.request.config;
  ProductMemory sizes;
  sizes.tile_bytes = plan.tile_bytes;
  sizes.slot_bytes = plan.part_bytes(plan.slots) / plan.slots_of_worker();
  sizes.sum_count =
      plan.part_bytes(plan.sums) / static_cast<int64_t>(sizeof(float));
  TileRecorder recorder(MakeLayerShape(plan), worker, store, sizes, list);
  DecoderTiles starts;
  recorder.product().RecordSingleToken();
  absl::Status status = RecordLayers(weights, config, &recorder);
  starts.output = list->count;
  starts.single_token_work = std::exchange(list->work, TileWork());
  status.Update(recorder.product().Multiply(
      weights.output, recorder.Share(config.vocabulary, kPanelTokens),
      {0, config.hidden}, {}, 1, {}, {}));
  starts.many_tokens = list->count;
  starts.output_work = std::exchange(list->work, TileWork());
  recorder.product().UsePanels();
  status.Update(RecordLayers(weights, config, &recorder));
  starts.many_tokens_work = std::exchange(list->work, TileWork());
  if (!status.ok()) return status;
  return starts;
}

}  // namespace footprint::lowmem_internal
