#include "footprint/lowmem/models/decoder_pass.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "footprint/lowmem/kernels/matrix_product.h"
#include "footprint/lowmem/streaming/pass_memory.h"
#include "footprint/lowmem/weights/float_reader.h"
#include "footprint/lowmem/weights/tile.h"

namespace footprint::lowmem_internal {

DecoderPass::DecoderPass(const DecoderConfig& config,
                         const DecoderWeights& weights, const DecoderPlan& plan,
                         const MappedBlock& arena, WeightStore* store)
    : LayerPass(MakeLayerShape(plan), plan, arena, store, config.layers + 2),
      config_(config),
      weights_(weights),
      plan_(plan),
      cache_(arena_.At<float>(plan.cache.offset_bytes)),
      cache_stride_(plan.padded_positions()),
      normed_(arena_.At<float>(plan.normed.offset_bytes)),
      work_(arena_.At<float>(plan.work.offset_bytes)),
      logits_(arena_.At<float>(plan.logits.offset_bytes)) {
  SetVectors();
  for (int worker = 0; worker < workers(); ++worker) AddScratch(worker);
}

void DecoderPass::SetVectors() {
  VectorRun run(arena_.At<float>(plan_.vectors.offset_bytes));
  const int64_t hidden = config_.hidden;
  vectors_.attention_gain = run.Take(hidden);
  vectors_.attention_bias = run.Take(hidden);
  vectors_.attention = run.Take(3 * hidden);
  vectors_.attention_output = run.Take(hidden);
  vectors_.feed_gain = run.Take(hidden);
  vectors_.feed_bias = run.Take(hidden);
  vectors_.contract = run.Take(hidden);
  vectors_.expand = run.Take(config_.intermediate);
}

void DecoderPass::AddScratch(int worker) {
  ProductMemory memory =
      FindProductMemory(arena_, plan_, worker, plan_.slots_of_worker());
  memory.sums = FindPart<float>(arena_, plan_, plan_.sums, worker);
  memory.sum_count =
      plan_.part_bytes(plan_.sums) / static_cast<int64_t>(sizeof(float));
  AddProduct(memory);
  worker_scratch_.push_back(
      {FindPart<float>(arena_, plan_, plan_.scores, worker), {}});
}

absl::Status DecoderPass::OpenStreams() {
  // A slot for what does not go through the ring stands before it.
  const int64_t slot_bytes =
      plan_.part_bytes(plan_.slots) / plan_.slots_of_worker();
  return OpenRings(slot_bytes, [&](int worker, TileList* list) {
    const absl::StatusOr<DecoderTiles> starts =
        RecordDecoderTiles(weights_, plan_, store_, worker, list);
    if (starts.ok()) worker_scratch_[worker].tiles = *starts;
    return starts.status();
  });
}

// To where the part's layers begin in the worker's stream.
absl::Status DecoderPass::SkipToLayers(int worker) {
  return product(worker).SkipTo(
      part_.single() ? 0 : worker_scratch_[worker].tiles.many_tokens);
}

absl::Status DecoderPass::Read(const DecoderPart& part) {
  part_ = part;
  SetTokens(part.tokens());
  return team_.Run([this](int worker) { Work(worker); });
}

void DecoderPass::Work(int worker) {
  const auto record = [&](int64_t step) {
    if (worker == 0) step_times_.Record(step);
  };
  if (worker == 0) step_times_.Begin();
  team_.RunPhase([&] { return SkipToLayers(worker); });
  team_.RunPhase([&] { return Embed(worker); });
  record(0);
  for (int64_t layer = 0; layer < config_.layers; ++layer) {
    RunLayer(layer, worker);
    record(layer + 1);
  }
  if (part_.is_last) RunOutput(worker);
  record(config_.layers + 1);
}

void DecoderPass::RunLayer(int64_t layer, int worker) {
  const DecoderLayerWeights& weights = weights_.layers[layer];
  team_.RunPhase([&] { return ReadLayerVectors(layer, worker); });
  team_.RunPhase(
      [&] { return NormaliseAfter(layer, AttentionNorm(), worker); });
  team_.RunPhase([&] { return Attend(layer, worker); });
  team_.RunPhase([&] {
    return AddAttention(weights.attention_output.matrix,
                        vectors_.attention_output, work_, worker);
  });
  team_.RunPhase([&] { return NormaliseAfter(layer + 1, FeedNorm(), worker); });
  RunFeedForward({weights.expand.matrix, weights.contract.matrix,
                  vectors_.expand, vectors_.contract, config_.activation,
                  normed_, work_, hidden_, /*adds_to_output=*/true},
                 worker);
}

absl::Status DecoderPass::ReadLayerVectors(int64_t layer, int worker) {
  const DecoderLayerWeights& from = weights_.layers[layer];
  const std::array<VectorLoad, 8> loads = {
      {{&from.attention_norm.gain, vectors_.attention_gain},
       {&from.attention_norm.bias, vectors_.attention_bias},
       {&from.attention.bias, vectors_.attention},
       {&from.attention_output.bias, vectors_.attention_output},
       {&from.feed_norm.gain, vectors_.feed_gain},
       {&from.feed_norm.bias, vectors_.feed_bias},
       {&from.expand.bias, vectors_.expand},
       {&from.contract.bias, vectors_.contract}}};
  return ReadVectors(loads, worker, workers(), store_);
}

absl::Status DecoderPass::EmbedToken(int64_t token, float* scratch,
                                     float* lane) {
  float* const sum = scratch + config_.hidden;
  absl::Status status = ReadRow(*store_, weights_.words, part_.ids[token], sum);
  if (!status.ok()) return status;
  status =
      ReadRow(*store_, weights_.positions, part_.position + token, scratch);
  if (!status.ok()) return status;
  for (int64_t i = 0; i < config_.hidden; ++i) {
    lane[i * kPanelTokens] = sum[i] + scratch[i];
  }
  return absl::OkStatus();
}

absl::Status DecoderPass::Embed(int worker) {
  const IndexRange own = FindPanels(worker);
  for (int64_t panel = own.begin; panel < own.end; ++panel) {
    float* const data = hidden_ + panel * HiddenStride();
    // Two rows, where the panel's normalised states will be.
    float* const scratch = normed_ + panel * HiddenStride();
    const int64_t first = panel * kPanelTokens;
    const int64_t count = std::min(kPanelTokens, tokens() - first);
    // Padding tokens are computed with, so they must be numbers.
    if (count < kPanelTokens) {
      std::memset(data, 0, HiddenStride() * sizeof(float));
    }
    for (int64_t i = 0; i < count; ++i) {
      const absl::Status status = EmbedToken(first + i, scratch, data + i);
      if (!status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

absl::Status DecoderPass::NormaliseAfter(int64_t step, const NormWeights& norm,
                                         int worker) {
  const IndexRange own = FindPanels(worker);
  const int64_t offset = own.begin * HiddenStride();
  const absl::Status status = CheckStates(step, worker);
  if (!status.ok()) return status;
  LayerNorm(hidden_ + offset, config_.hidden, own.size(), norm,
            normed_ + offset);
  return absl::OkStatus();
}

absl::Status DecoderPass::Attend(int64_t layer, int worker) {
  const IndexRange heads = ComputeShare(config_.heads, 1, worker, workers());
  if (heads.size() == 0) return absl::OkStatus();
  UseInput(normed_, config_.hidden, worker);
  const int64_t features = config_.head_features();
  const absl::Status status = ProjectHeads(
      layer, {heads.begin * features, heads.end * features}, worker);
  if (!status.ok()) return status;
  for (int64_t head = heads.begin; head < heads.end; ++head) {
    AttendHead(layer, head, worker_scratch_[worker]);
  }
  return absl::OkStatus();
}

absl::Status DecoderPass::ProjectHeads(int64_t layer,
                                       const IndexRange& features, int worker) {
  // Queries lie where their context will, keys and values in the cache.
  const int64_t in_cache = features.begin * cache_stride_ + part_.position;
  const PanelOutput outputs[] = {
      {work_ + features.begin * kPanelTokens, kPanelTokens, HiddenStride()},
      {Keys(layer) + in_cache, cache_stride_, kPanelTokens},
      {Values(layer) + in_cache, cache_stride_, kPanelTokens}};
  int64_t first = 0;
  for (const PanelOutput& output : outputs) {
    ProductEpilogue epilogue;
    epilogue.bias = vectors_.attention + first + features.begin;
    const absl::Status status = product(worker).MultiplyTransposed(
        weights_.layers[layer].attention.matrix,
        {first + features.begin, first + features.end}, {0, config_.hidden},
        {normed_, HiddenStride()}, panels(), epilogue, output);
    if (!status.ok()) return status;
    first += config_.hidden;
  }
  return absl::OkStatus();
}

void DecoderPass::AttendHead(int64_t layer, int64_t head,
                             const WorkerScratch& worker_scratch) {
  const int64_t features = config_.head_features();
  const float scale = 1.0f / std::sqrt(static_cast<float>(features));
  const int64_t in_cache = head * features * cache_stride_;
  const int64_t tokens_end = part_.position + tokens();
  for (int64_t panel = 0; panel < panels(); ++panel) {
    // The panel's queries, then its context.
    float* const place =
        work_ + panel * HiddenStride() + head * features * kPanelTokens;
    const int64_t first = part_.position + panel * kPanelTokens;
    // The keys are those before, and the panel's own.
    const int64_t keys = std::min(first + kPanelTokens, tokens_end);
    MultiplyPanels({Keys(layer) + in_cache, 1, cache_stride_}, keys, features,
                   {place, 0}, 1, {}, {worker_scratch.scores, kPanelTokens, 0});
    ScaledSoftmax(keys, first + 1, scale, worker_scratch.scores);
    MultiplyPanels({Values(layer) + in_cache, cache_stride_, 1}, features, keys,
                   {worker_scratch.scores, 0}, 1, {}, {place, kPanelTokens, 0});
  }
}

void DecoderPass::RunOutput(int worker) {
  team_.RunPhase([&] {
    const std::array<VectorLoad, 2> loads = {
        {{&weights_.norm.gain, vectors_.attention_gain},
         {&weights_.norm.bias, vectors_.attention_bias}}};
    return ReadVectors(loads, worker, workers(), store_);
  });
  team_.RunPhase(
      [&] { return NormaliseAfter(config_.layers, AttentionNorm(), worker); });
  team_.RunPhase([&] { return MultiplyOutput(worker); });
}

// Multiplies the last token alone.
absl::Status DecoderPass::MultiplyOutput(int worker) {
  StreamedProduct& product = this->product(worker);
  absl::Status status = product.SkipTo(worker_scratch_[worker].tiles.output);
  if (!status.ok()) return status;
  const int64_t last = tokens() - 1;
  product.UseSingleToken(
      normed_ + last / kPanelTokens * HiddenStride() + last % kPanelTokens,
      config_.hidden);
  const IndexRange rows =
      ComputeShare(config_.vocabulary, kPanelTokens, worker, workers());
  status = product.Multiply(weights_.output, rows, {0, config_.hidden}, {}, 1,
                            {}, {logits_ + rows.begin, 1, 0});
  if (status.ok() && !AreFinite(logits_ + rows.begin, rows.size())) {
    status = NotFinite(*store_, "the output");
  }
  // Most likely a single token comes next: it is read ahead meanwhile.
  if (status.ok()) status = product.SkipTo(0);
  return status;
}

}  // namespace footprint::lowmem_internal
