#include "footprint/lowmem/models/decoder.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/gguf/gguf.h"
#include "footprint/lowmem/checkpoints/checkpoint_folder.h"
#include "footprint/lowmem/kernels/token_panel.h"
#include "footprint/lowmem/models/decoder_tiles.h"
#include "footprint/lowmem/models/gguf_config.h"
#include "footprint/lowmem/models/weight_binder.h"
#include "footprint/lowmem/streaming/model_run.h"
#include "footprint/lowmem/streaming/pass_time.h"
#include "footprint/lowmem/streaming/plan_growth.h"
#include "footprint/lowmem/streaming/streamed_product.h"
#include "footprint/lowmem/streaming/tile_recorder.h"

namespace footprint {
namespace {

// The steps of a layer, without those of the feed-forward part's chunks, and
// without the two more of a model with norms after its parts.
constexpr int64_t kStepsOfLayer = 5;

absl::StatusOr<DecoderConfig> ReadConfigOfGguf(
    absl::string_view path,
    const absl::StatusOr<std::unique_ptr<WeightStore>>& store) {
  if (!store.ok()) return store.status();
  const absl::StatusOr<GgufIndex> index = GgufIndex::Open(path);
  if (!index.ok()) return index.status();
  return ReadGgufConfig(*index, **store);
}

}  // namespace

Decoder::Decoder(const DecoderConfig& config,
                 std::unique_ptr<WeightStore> store, DecoderWeights weights,
                 const DecoderOptions& options)
    : options_(options),
      config_(config),
      store_(std::move(store)),
      weights_(std::move(weights)) {}

absl::StatusOr<std::unique_ptr<Decoder>> Decoder::Open(absl::string_view path,
                                                       WeightBackend backend,
                                                       DecoderUse use) {
  DecoderOptions options;
  options.use = use;
  return Open(path, backend, options);
}

absl::StatusOr<std::unique_ptr<Decoder>> Decoder::Open(
    absl::string_view path, WeightBackend backend,
    const DecoderOptions& options) {
  const bool is_gguf = IsModelFile(path);
  absl::StatusOr<std::unique_ptr<WeightStore>> store =
      is_gguf ? WeightStore::Open(path, backend)
              : OpenFolderWeights(path, backend);
  absl::StatusOr<DecoderConfig> config =
      is_gguf ? ReadConfigOfGguf(path, store)
              : ReadDecoderConfig(absl::StrCat(path, "/config.json"));
  if (!config.ok()) return config.status();
  if (!store.ok()) return store.status();
  if (config->is_bidirectional && options.use == DecoderUse::kLogits) {
    return absl::UnimplementedError(absl::StrCat(
        path,
        ": the model's tokens see those after them, so it computes vectors of "
        "texts and no next word: use lowmem_embed"));
  }
  absl::StatusOr<DecoderWeights> weights =
      FindDecoderWeights(**store, *config, options.use);
  if (!weights.ok()) return weights.status();
  return absl::WrapUnique(
      new Decoder(*config, *std::move(store), *std::move(weights), options));
}

DecoderPlanRequest Decoder::Request(int64_t positions, int workers,
                                    int64_t sequences) const {
  DecoderPlanRequest request;
  request.config = config_;
  request.positions = positions;
  request.workers = workers;
  request.sequences = sequences;
  request.cache_type = options_.cache_type;
  request.needs = ComputeNeeds(*store_, MultipliedMatrices(weights_),
                               TensorsToPin(weights_), options_.arithmetic);
  request.needs.whole_tensors =
      static_cast<int64_t>(ListWholeTensors(weights_).size());
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
                                          int64_t budget_bytes,
                                          int64_t sequences) const {
  return PlanDecoder(Request(positions, workers, sequences), budget_bytes);
}

absl::StatusOr<int64_t> Decoder::MinBudgetBytes(int64_t positions, int workers,
                                                int64_t sequences) const {
  return footprint::MinBudgetBytes(Request(positions, workers, sequences));
}

absl::StatusOr<int64_t> Decoder::MostSequences(int64_t positions, int workers,
                                               int64_t budget_bytes) const {
  return footprint::MostSequences(Request(positions, workers, 1), budget_bytes);
}

absl::StatusOr<double> Decoder::PredictSeconds(const DecoderPlan& plan,
                                               int64_t prompt_tokens,
                                               int64_t generated) const {
  const DecoderPlanRequest& request = plan.request;
  const int64_t chunks =
      (config_.intermediate + plan.chunk_features - 1) / plan.chunk_features;
  PassShape shape;
  shape.backend = store_->backend();
  shape.direct_block_bytes = store_->direct_block_bytes();
  shape.depth = plan.depth;
  shape.workers = request.workers;
  shape.steps = config_.layers * (kStepsOfLayer + 2 * chunks);
  const auto predict = [&](const TileWork& work, int64_t tokens,
                           int64_t positions, bool is_single) {
    shape.panels = PanelCount(tokens);
    shape.single_token = is_single;
    // Attention multiplies queries by keys, and their softmax by values.
    shape.panel_multiply_adds = 2 * config_.layers * config_.query_features() *
                                positions * shape.panels / request.workers;
    return PredictPassSeconds(work, shape);
  };
  // Counts the tiles of each worker.
  const DecoderPlan counted = WithSlots(plan, plan.slots_of_worker());
  std::vector<lowmem_internal::DecoderTiles> works;
  int64_t tile_bytes = 0;
  for (int worker = 0; worker < request.workers; ++worker) {
    TileList list;
    const auto tiles = lowmem_internal::RecordDecoderTiles(
        weights_, counted, store_.get(), worker, &list);
    if (!tiles.ok()) return tiles.status();
    works.push_back(*tiles);
    tile_bytes +=
        tiles->single_token_work.stored_bytes + tiles->output_work.stored_bytes;
  }
  shape.pinned_share = plan.pinned.share(tile_bytes);
  // Adds up the passes of each worker: over the prompt's chunks, then over the
  // generated tokens. The slowest worker decides.
  double seconds = 0;
  // Several sequences' prompts lie side by side, in whole panels.
  const int64_t read_tokens =
      request.sequences == 1
          ? prompt_tokens
          : request.sequences * PanelCount(prompt_tokens) * kPanelTokens;
  for (const lowmem_internal::DecoderTiles& tiles : works) {
    double own = 0;
    for (int64_t done = 0; done < read_tokens; done += plan.chunk_tokens) {
      const int64_t tokens = std::min(plan.chunk_tokens, read_tokens - done);
      const bool is_single = prompt_tokens == 1;
      own +=
          predict(is_single ? tiles.single_token_work : tiles.many_tokens_work,
                  tokens, done + tokens, is_single);
    }
    own +=
        static_cast<double>(generated) * predict(tiles.output_work, 1, 0, true);
    own += static_cast<double>(generated - 1) *
           predict(tiles.single_token_work, 1, request.positions, true);
    seconds = std::max(seconds, own);
  }
  return seconds;
}

absl::StatusOr<BudgetChoice> Decoder::ChooseBudget(int64_t prompt_tokens,
                                                   int64_t generated,
                                                   int workers,
                                                   int64_t sequences) const {
  const int64_t positions = prompt_tokens + generated - 1;
  const absl::StatusOr<int64_t> least =
      MinBudgetBytes(positions, workers, sequences);
  if (!least.ok()) return least.status();
  return footprint::ChooseBudget(
      *least, [&](int64_t budget_bytes) -> absl::StatusOr<double> {
        const auto plan = Plan(positions, workers, budget_bytes, sequences);
        if (!plan.ok()) return plan.status();
        return PredictSeconds(*plan, prompt_tokens, generated);
      });
}

ReadBound Decoder::ComputeReadBound(const DecoderPlan& plan) const {
  const int64_t kept_bytes =
      plan.request.sequences > 1 ? plan.cache.size_bytes : 0;
  return BoundReads(*store_, ComputePassBytes(weights_),
                    plan.peak_bytes - kept_bytes);
}

absl::StatusOr<std::unique_ptr<DecoderRun>> Decoder::Start(
    const DecoderPlan& plan) const {
  // Offsets depend on the configuration, the needs and the cache's type: with
  // another model's plan a run would write beyond its arena.
  const DecoderPlanRequest own = Request(
      plan.request.positions, plan.request.workers, plan.request.sequences);
  if (!(plan.request.config == own.config && plan.request.needs == own.needs &&
        plan.request.cache_type == own.cache_type)) {
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
