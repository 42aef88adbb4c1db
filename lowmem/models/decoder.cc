#include "footprint/lowmem/models/decoder.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "footprint/lowmem/checkpoints/checkpoint_folder.h"
#include "footprint/lowmem/models/decoder_tiles.h"
#include "footprint/lowmem/models/weight_binder.h"
#include "footprint/lowmem/streaming/model_run.h"
#include "footprint/lowmem/streaming/streamed_product.h"
#include "footprint/lowmem/streaming/tile_recorder.h"

namespace footprint {
Decoder::Decoder(const DecoderConfig& config,
                 std::unique_ptr<WeightStore> store, DecoderWeights weights)
    : config_(config), store_(std::move(store)), weights_(std::move(weights)) {}

absl::StatusOr<std::unique_ptr<Decoder>> Decoder::Open(
    absl::string_view directory, WeightBackend backend) {
  absl::StatusOr<DecoderConfig> config =
      ReadDecoderConfig(absl::StrCat(directory, "/config.json"));
  if (!config.ok()) return config.status();
  absl::StatusOr<std::unique_ptr<WeightStore>> store =
      OpenFolderWeights(directory, backend);
  if (!store.ok()) return store.status();
  absl::StatusOr<DecoderWeights> weights = FindDecoderWeights(**store, *config);
  if (!weights.ok()) return weights.status();
  return absl::WrapUnique(
      new Decoder(*config, *std::move(store), *std::move(weights)));
}

DecoderPlanRequest Decoder::Request(int64_t positions, int workers) const {
  DecoderPlanRequest request;
  request.config = config_;
  request.positions = positions;
  request.workers = workers;
  std::vector<Weight> matrices = LayerMatrices(weights_.layers);
  matrices.push_back(weights_.output);
  request.needs = NeedsOf(*store_, matrices, TensorsToPin(weights_));
  request.count_tiles = [this](const DecoderPlan& plan) {
    return lowmem_internal::MostTiles(
        plan.request.workers, [&](int worker, TileList* list) {
          return lowmem_internal::RecordDecoderTiles(
              weights_, plan, store_.get(), worker, list);
        });
  };
  return request;
}

absl::StatusOr<DecoderPlan> Decoder::Plan(int64_t positions, int workers,
                                          int64_t budget_bytes) const {
  return PlanDecoder(Request(positions, workers), budget_bytes);
}

absl::StatusOr<int64_t> Decoder::MinBudgetBytes(int64_t positions,
                                                int workers) const {
  return footprint::MinBudgetBytes(Request(positions, workers));
}

absl::StatusOr<std::unique_ptr<DecoderRun>> Decoder::Start(
    const DecoderPlan& plan) const {
  // Where things lie depends on both: a run by another model's plan would write
  // beyond its arena.
  const DecoderPlanRequest own =
      Request(plan.request.positions, plan.request.workers);
  if (!(plan.request.config == own.config && plan.request.needs == own.needs)) {
    return lowmem_internal::ForeignPlan(*store_);
  }
  return lowmem_internal::StartDecoderRun(config_, weights_, store_.get(),
                                          plan);
}

absl::Status GenerateGreedily(DecoderRun& run, absl::Span<const int32_t> prompt,
                              int64_t count,
                              absl::FunctionRef<void(int32_t id)> say) {
  int32_t last = 0;
  for (int64_t i = 0; i < count; ++i) {
    const auto logits =
        run.Append(i == 0 ? prompt : absl::MakeConstSpan(&last, 1));
    if (!logits.ok()) return logits.status();
    last = static_cast<int32_t>(
        std::max_element(logits->begin(), logits->end()) - logits->begin());
    say(last);
  }
  return absl::OkStatus();
}

}  // namespace footprint
