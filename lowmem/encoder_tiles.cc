#include "footprint/lowmem/encoder_tiles.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "footprint/lowmem/step_team.h"
#include "footprint/lowmem/token_panel.h"

namespace footprint::lowmem_internal {
namespace {

class Recorder {
 public:
  Recorder(const EncoderPlan& plan, int worker, StreamedProduct product)
      : config_(plan.request.config),
        plan_(plan),
        worker_(worker),
        product_(std::move(product)) {}

  absl::Status Layer(const EncoderLayerWeights& layer) {
    const IndexRange all = {0, config_.hidden};
    absl::Status status = Heads(layer);
    const IndexRange rows = Share(config_.hidden, kPanelTokens);
    status.Update(Add(layer.attention_output, rows, all));
    for (int64_t begin = 0; begin < config_.intermediate;
         begin += plan_.chunk_features) {
      const IndexRange chunk = {
          begin, std::min(config_.intermediate, begin + plan_.chunk_features)};
      const IndexRange wide = Share(chunk.size(), kPanelTokens);
      status.Update(
          Add(layer.expand, {begin + wide.begin, begin + wide.end}, all));
      status.Update(Add(layer.contract, rows, chunk));
    }
    return status;
  }

 private:
  absl::Status Heads(const EncoderLayerWeights& layer) {
    absl::Status status;
    const int64_t features = config_.head_features();
    const IndexRange heads = Share(config_.heads, 1);
    for (int64_t head = heads.begin; head < heads.end; ++head) {
      const IndexRange rows = {head * features, (head + 1) * features};
      for (const LinearWeights* linear :
           {&layer.query, &layer.key, &layer.value}) {
        status.Update(Add(*linear, rows, {0, config_.hidden}));
      }
    }
    return status;
  }

  IndexRange Share(int64_t count, int64_t unit) const {
    return ShareOf(count, unit, worker_, plan_.request.workers);
  }

  absl::Status Add(const LinearWeights& linear, const IndexRange& rows,
                   const IndexRange& columns) {
    return product_.Multiply(linear.matrix, rows, columns, {}, 0, {}, {});
  }

  const EncoderConfig& config_;
  const EncoderPlan& plan_;
  const int worker_;
  StreamedProduct product_;
};

}  // namespace

absl::Status RecordEncoderTiles(const EncoderWeights& weights,
                                const EncoderPlan& plan, WeightStore* store,
                                int worker, TileList* list) {
  ProductMemory sizes;
  sizes.tile_bytes = plan.tile_bytes;
  sizes.slot_bytes = plan.part_bytes(plan.slots) / plan.depth;
  StreamedProduct product(store, sizes);
  product.Record(list);
  Recorder recorder(plan, worker, std::move(product));
  for (const EncoderLayerWeights& layer : weights.layers) {
    const absl::Status status = recorder.Layer(layer);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace footprint::lowmem_internal
