#include "footprint/lowmem/decoder_tiles.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "footprint/lowmem/step_team.h"
#include "footprint/lowmem/token_panel.h"

namespace footprint::lowmem_internal {
namespace {

class Recorder {
 public:
  Recorder(const DecoderPlan& plan, int worker, StreamedProduct product)
      : config_(plan.request.config),
        plan_(plan),
        worker_(worker),
        product_(std::move(product)) {}

  absl::Status Layers(const DecoderWeights& weights) {
    absl::Status status;
    for (const DecoderLayerWeights& layer : weights.layers) {
      status.Update(Layer(layer));
    }
    return status;
  }

  absl::Status Output(const DecoderWeights& weights) {
    return product_.Multiply(weights.output,
                             Share(config_.vocabulary, kPanelTokens),
                             {0, config_.hidden}, {}, 1, {}, {});
  }

  StreamedProduct& product() { return product_; }

 private:
  absl::Status Layer(const DecoderLayerWeights& layer) {
    const IndexRange all = {0, config_.hidden};
    absl::Status status = Heads(layer);
    const IndexRange outputs = Share(config_.hidden, kOutputUnit);
    status.Update(Add(layer.attention_output, outputs, all));
    for (int64_t begin = 0; begin < config_.intermediate;
         begin += plan_.chunk_features) {
      const IndexRange chunk = {
          begin, std::min(config_.intermediate, begin + plan_.chunk_features)};
      const IndexRange wide = Share(chunk.size(), kOutputUnit);
      status.Update(
          Add(layer.expand, {begin + wide.begin, begin + wide.end}, all));
      status.Update(Add(layer.contract, outputs, chunk));
    }
    return status;
  }

  // Queries, keys, values.
  absl::Status Heads(const DecoderLayerWeights& layer) {
    absl::Status status;
    const IndexRange heads = Share(config_.heads, 1);
    for (int64_t first = 0; first < 3 * config_.hidden;
         first += config_.hidden) {
      const int64_t features = config_.head_features();
      status.Update(
          Add(layer.attention,
              {first + heads.begin * features, first + heads.end * features},
              {0, config_.hidden}));
    }
    return status;
  }

  IndexRange Share(int64_t count, int64_t unit) const {
    return ShareOf(count, unit, worker_, plan_.request.workers);
  }

  absl::Status Add(const LinearWeights& linear, const IndexRange& outputs,
                   const IndexRange& inputs) {
    return product_.MultiplyTransposed(linear.matrix, outputs, inputs, {}, 0,
                                       {}, {});
  }

  const DecoderConfig& config_;
  const DecoderPlan& plan_;
  const int worker_;
  StreamedProduct product_;
};

}  // namespace

absl::StatusOr<DecoderTiles> RecordDecoderTiles(const DecoderWeights& weights,
                                                const DecoderPlan& plan,
                                                WeightStore* store, int worker,
                                                TileList* list) {
  ProductMemory sizes;
  sizes.tile_bytes = plan.tile_bytes;
  sizes.slot_bytes = plan.part_bytes(plan.slots) / plan.slots_of_worker();
  sizes.sum_count =
      plan.part_bytes(plan.sums) / static_cast<int64_t>(sizeof(float));
  StreamedProduct product(store, sizes);
  product.Record(list);
  Recorder recorder(plan, worker, std::move(product));
  DecoderTiles starts;
  recorder.product().RecordSingleToken();
  absl::Status status = recorder.Layers(weights);
  starts.output = list->count;
  status.Update(recorder.Output(weights));
  starts.many_tokens = list->count;
  recorder.product().UsePanels();
  status.Update(recorder.Layers(weights));
  if (!status.ok()) return status;
  return starts;
}

}  // namespace footprint::lowmem_internal
