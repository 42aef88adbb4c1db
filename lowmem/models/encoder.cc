#include "footprint/lowmem/models/encoder.h"

#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "footprint/lowmem/checkpoints/checkpoint_folder.h"
#include "footprint/lowmem/models/encoder_run.h"
#include "footprint/lowmem/models/encoder_tiles.h"
#include "footprint/lowmem/models/weight_binder.h"
#include "footprint/lowmem/streaming/model_run.h"
#include "footprint/lowmem/streaming/pass_time.h"
#include "footprint/lowmem/streaming/plan_growth.h"
#include "footprint/lowmem/streaming/streamed_product.h"
#include "footprint/lowmem/streaming/tile_recorder.h"

namespace footprint {
namespace {

// The steps of a layer, without those of the feed-forward part's chunks.
constexpr int64_t kStepsOfLayer = 5;

}  // namespace

Encoder::Encoder(const EncoderConfig& config,
                 std::unique_ptr<WeightStore> store, EncoderWeights weights,
                 Arithmetic arithmetic)
    : arithmetic_(arithmetic),
      config_(config),
      store_(std::move(store)),
      weights_(std::move(weights)) {}

absl::StatusOr<std::unique_ptr<Encoder>> Encoder::Open(
    absl::string_view directory, WeightBackend backend, Arithmetic arithmetic) {
  absl::StatusOr<EncoderConfig> config =
      ReadEncoderConfig(absl::StrCat(directory, "/config.json"));
  if (!config.ok()) return config.status();
  absl::StatusOr<std::unique_ptr<WeightStore>> store =
      OpenFolderWeights(directory, backend);
  if (!store.ok()) return store.status();
  absl::StatusOr<EncoderWeights> weights = FindEncoderWeights(**store, *config);
  if (!weights.ok()) return weights.status();
  return absl::WrapUnique(
      new Encoder(*config, *std::move(store), *std::move(weights), arithmetic));
}

EncoderPlanRequest Encoder::Request(int64_t tokens, int workers,
                                    int64_t sequences) const {
  EncoderPlanRequest request;
  request.config = config_;
  request.tokens = tokens;
  request.workers = workers;
  request.sequences = sequences;
  request.needs = ComputeNeeds(*store_, MultipliedMatrices(weights_),
                               TensorsToPin(weights_), arithmetic_);
  request.needs.whole_tensors =
      static_cast<int64_t>(ListWholeTensors(weights_).size());
  request.count_tiles = [this](const EncoderPlan& plan) {
    return lowmem_internal::MostTiles(
        plan.request.workers, [&](int worker, TileList* list) {
          return lowmem_internal::RecordEncoderTiles(
              weights_, plan, store_.get(), worker, list);
        });
  };
  return request;
}

absl::StatusOr<EncoderPlan> Encoder::Plan(int64_t tokens, int workers,
                                          int64_t budget_bytes,
                                          int64_t sequences) const {
  return PlanEncoder(Request(tokens, workers, sequences), budget_bytes);
}

absl::StatusOr<int64_t> Encoder::MinBudgetBytes(int64_t tokens, int workers,
                                                int64_t sequences) const {
  return footprint::MinBudgetBytes(Request(tokens, workers, sequences));
}

absl::StatusOr<double> Encoder::PredictPassSeconds(
    const EncoderPlan& plan) const {
  const EncoderPlanRequest& request = plan.request;
  const int64_t chunks =
      (config_.intermediate + plan.chunk_features - 1) / plan.chunk_features;
  PassShape shape;
  shape.backend = store_->backend();
  shape.direct_block_bytes = store_->direct_block_bytes();
  shape.panels = plan.panels();
  shape.single_token = request.tokens == 1;
  shape.depth = plan.depth;
  shape.workers = request.workers;
  shape.steps = config_.layers * (kStepsOfLayer + 2 * chunks);
  // Scores, and what is made of them: for each token all others.
  shape.panel_multiply_adds = 2 * config_.layers * config_.hidden *
                              plan.padded_tokens() * plan.panels() /
                              request.workers;
  const EncoderPlan counted = WithSlots(plan, plan.depth);
  std::vector<TileWork> works;
  int64_t tile_bytes = 0;
  for (int worker = 0; worker < request.workers; ++worker) {
    TileList list;
    const absl::Status status = lowmem_internal::RecordEncoderTiles(
        weights_, counted, store_.get(), worker, &list);
    if (!status.ok()) return status;
    works.push_back(list.work);
    tile_bytes += list.work.stored_bytes;
  }
  shape.pinned_share = plan.pinned.share(tile_bytes);
  double seconds = 0;
  for (const TileWork& work : works) {
    seconds = std::max(seconds, footprint::PredictPassSeconds(work, shape));
  }
  return seconds;
}

absl::StatusOr<BudgetChoice> Encoder::ChooseBudget(int64_t tokens, int workers,
                                                   int64_t sequences) const {
  const absl::StatusOr<int64_t> least =
      MinBudgetBytes(tokens, workers, sequences);
  if (!least.ok()) return least.status();
  return footprint::ChooseBudget(
      *least, [&](int64_t budget_bytes) -> absl::StatusOr<double> {
        const auto plan = Plan(tokens, workers, budget_bytes, sequences);
        if (!plan.ok()) return plan.status();
        return PredictPassSeconds(*plan);
      });
}

ReadBound Encoder::ComputeReadBound(const EncoderPlan& plan) const {
  return BoundReads(*store_, ComputePassBytes(weights_), plan.peak_bytes);
}

absl::StatusOr<std::unique_ptr<EncoderRun>> Encoder::Start(
    const EncoderPlan& plan) const {
  // Offsets depend on the configuration and the needs: with another model's
  // plan a run would write beyond its arena.
  const EncoderPlanRequest own = Request(
      plan.request.tokens, plan.request.workers, plan.request.sequences);
  if (!(plan.request.config == own.config && plan.request.needs == own.needs)) {
    return lowmem_internal::ForeignPlan(*store_);
  }
  return lowmem_internal::StartEncoderRun(config_, weights_, store_.get(),
                                          plan);
}

}  // namespace footprint
