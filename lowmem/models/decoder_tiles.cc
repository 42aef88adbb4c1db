#include "footprint/lowmem/models/decoder_tiles.h"

#include <utility>

#include "absl/status/status.h"
#include "footprint/lowmem/kernels/token_panel.h"

namespace footprint::lowmem_internal {
namespace {

absl::Status RecordHeads(const DecoderLayerWeights& layer,
                         const DecoderConfig& config, TileRecorder* recorder) {
  absl::Status status;
  const IndexRange heads = recorder->Share(config.key_value_heads(), 1);
  for (const HeadPart& part : HeadParts(layer, config)) {
    status.Update(recorder->Add(part.linear->weights.matrix,
                                part.OutputsOf(heads), {0, config.hidden}));
  }
  return status;
}

MatrixPart ToMatrixPart(const LinearPart& part) {
  if (!part.weights.matrix.exists()) return MatrixPart();
  return {&part.weights.matrix, part.first_output};
}

absl::Status RecordLayers(const DecoderWeights& weights,
                          const DecoderConfig& config, TileRecorder* recorder) {
  absl::Status status;
  for (const DecoderLayerWeights& layer : weights.layers) {
    status.Update(RecordHeads(layer, config, recorder));
    status.Update(recorder->AfterHeads(
        layer.attention_output.matrix, ToMatrixPart(layer.gate),
        ToMatrixPart(layer.expand), layer.contract.matrix));
  }
  return status;
}

}  // namespace

std::array<HeadPart, 3> HeadParts(const DecoderLayerWeights& layer,
                                  const DecoderConfig& config) {
  const int64_t features = config.head_features();
  return {{{&layer.query, config.group() * features},
           {&layer.key, features},
           {&layer.value, features}}};
}

LayerShape MakeLayerShape(const DecoderPlan& plan) {
  LayerShape shape;
  const DecoderConfig& config = plan.request.config;
  shape.hidden = config.hidden;
  shape.attended = config.query_features();
  shape.intermediate = config.intermediate;
  shape.chunk_features = plan.chunk_features;
  shape.workers = plan.request.workers;
  shape.output_unit = OutputUnit(config);
  shape.is_transposed = config.is_transposed;
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
  const bool is_shared = plan.request.sequences > 1;
  if (!is_shared) recorder.product().RecordSingleToken();
  absl::Status status = RecordLayers(weights, config, &recorder);
  starts.output = list->count;
  starts.single_token_work = std::exchange(list->work, TileWork());
  if (weights.output.exists()) {
    status.Update(recorder.product().Multiply(
        weights.output, recorder.Share(config.vocabulary, kPanelTokens),
        {0, config.hidden}, {}, 1, {}, {}));
  }
  starts.output_work = std::exchange(list->work, TileWork());
  if (is_shared) {
    starts.many_tokens_work = starts.single_token_work;
    if (!status.ok()) return status;
    return starts;
  }
  starts.many_tokens = list->count;
  recorder.product().UsePanels();
  status.Update(RecordLayers(weights, config, &recorder));
  starts.many_tokens_work = std::exchange(list->work, TileWork());
  if (!status.ok()) return status;
  return starts;
}

}  // namespace footprint::lowmem_internal
