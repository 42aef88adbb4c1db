#include "footprint/lowmem/decoder_run.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/lowmem/byte_arena.h"
#include "footprint/lowmem/decoder_tiles.h"
#include "footprint/lowmem/matrix_product.h"
#include "footprint/lowmem/model_run.h"
#include "footprint/lowmem/panel_kernels.h"
#include "footprint/lowmem/pinned_store.h"
#include "footprint/lowmem/step_team.h"
#include "footprint/lowmem/streamed_product.h"
#include "footprint/lowmem/tile.h"
#include "footprint/lowmem/tile_stream.h"
#include "footprint/lowmem/token_panel.h"

namespace footprint {
namespace lowmem_internal {
namespace {

// The small vectors that are in memory during one layer, or the output.
struct LayerVectors {
  float* attention_gain;
  float* attention_bias;
  float* attention;
  float* attention_output;
  float* feed_gain;
  float* feed_bias;
  float* expand;
  float* contract;
};

// Tokens that are read together.
struct Part {
  absl::Span<const int32_t> ids;
  int64_t position = 0;  // of the first
  int64_t panels = 0;
  bool is_last = false;  // of an Append

  int64_t tokens() const { return static_cast<int64_t>(ids.size()); }
  bool single() const { return ids.size() == 1; }
};

class Run : public DecoderRun {
 public:
  Run(const DecoderConfig& config, const DecoderWeights& weights,
      WeightStore* store, const DecoderPlan& plan, RunMemory memory);

  absl::StatusOr<absl::Span<const float>> Append(
      absl::Span<const int32_t> ids) override;
  absl::Span<const float> logits() const override {
    return absl::MakeConstSpan(logits_, config_.vocabulary);
  }
  void Clear() override { tokens_ = 0; }
  int64_t tokens() const override { return tokens_; }
  absl::Span<const int64_t> step_nanoseconds() const override {
    return step_times_.nanoseconds();
  }
  int64_t ResidentArenaBytes() const override { return arena_.ResidentBytes(); }
  std::string ReadingDescription() const override {
    return streams_.empty() ? "when used" : streams_[0]->Description();
  }

  // Begins to read ahead, if the backend does.
  absl::Status OpenStreams();

 private:
  // What one worker has for itself.
  struct Desk {
    StreamedProduct product;
    float* scores;
    DecoderTiles tiles;  // where they begin in its stream
  };

  absl::Status CheckInput(absl::Span<const int32_t> ids) const;
  Desk MakeDesk(int worker) const;
  void SetVectors();
  absl::Status SkipToLayers(int worker);
  int64_t NextPartTokens(int64_t position, int64_t left) const;

  void Work(int worker);
  void RunLayer(int64_t layer, int worker);
  absl::Status ReadLayerVectors(int64_t layer, int worker);
  absl::Status Embed(int worker);
  absl::Status EmbedToken(int64_t token, float* scratch, float* lane);
  absl::Status Normalise(const NormWeights& norm, int worker);
  absl::Status Attend(int64_t layer, int worker);
  absl::Status ProjectHeads(int64_t layer, const IndexRange& features,
                            Desk& desk);
  void AttendHead(int64_t layer, int64_t head, const Desk& desk);
  absl::Status AddAttention(const DecoderLayerWeights& layer, int worker);
  absl::Status Expand(const DecoderLayerWeights& layer, const IndexRange& chunk,
                      int worker);
  absl::Status Contract(const DecoderLayerWeights& layer,
                        const IndexRange& chunk, int worker);
  void RunOutput(int worker);
  absl::Status MultiplyOutput(int worker);
  void UseInput(Desk& desk, const float* panels, int64_t features) const;

  int64_t HiddenStride() const { return config_.hidden * kPanelTokens; }
  NormWeights AttentionNorm() const {
    return {vectors_.attention_gain, vectors_.attention_bias, config_.epsilon};
  }
  NormWeights FeedNorm() const {
    return {vectors_.feed_gain, vectors_.feed_bias, config_.epsilon};
  }
  // [feature][position]
  float* Keys(int64_t layer) const {
    return cache_ + layer * 2 * config_.hidden * cache_stride_;
  }
  float* Values(int64_t layer) const {
    return Keys(layer) + config_.hidden * cache_stride_;
  }

  const DecoderConfig config_;
  const DecoderWeights& weights_;
  const DecoderPlan plan_;
  const ByteArena arena_;
  const std::unique_ptr<PinnedStore> pinned_;  // null: nothing is
  WeightStore* const store_;
  StepTeam team_;

  float* const cache_;
  const int64_t cache_stride_;
  float* const hidden_;
  float* const normed_;
  float* const work_;
  float* const logits_;
  LayerVectors vectors_;
  // Before the desks, which hold leases of streams.
  std::vector<std::unique_ptr<TileStream>> streams_;
  std::vector<Desk> desks_;
  StepTimes step_times_;  // as worker 0 sees them
  int64_t tokens_ = 0;
  Part part_;  // that is being read
};

Run::Run(const DecoderConfig& config, const DecoderWeights& weights,
         WeightStore* store, const DecoderPlan& plan, RunMemory memory)
    : config_(config),
      weights_(weights),
      plan_(plan),
      arena_(std::move(memory.arena)),
      pinned_(std::move(memory.pinned)),
      store_(pinned_ == nullptr ? store : pinned_.get()),
      team_(plan.request.workers),
      cache_(arena_.At<float>(plan.cache.offset_bytes)),
      cache_stride_(plan.padded_positions()),
      hidden_(arena_.At<float>(plan.hidden.offset_bytes)),
      normed_(arena_.At<float>(plan.normed.offset_bytes)),
      work_(arena_.At<float>(plan.work.offset_bytes)),
      logits_(arena_.At<float>(plan.logits.offset_bytes)),
      step_times_(config.layers + 2) {
  SetVectors();
  for (int worker = 0; worker < team_.size(); ++worker) {
    desks_.push_back(MakeDesk(worker));
  }
}

void Run::SetVectors() {
  float* next = arena_.At<float>(plan_.vectors.offset_bytes);
  const auto take = [&next](int64_t count) {
    float* const vector = next;
    next += count;
    return vector;
  };
  const int64_t hidden = config_.hidden;
  vectors_.attention_gain = take(hidden);
  vectors_.attention_bias = take(hidden);
  vectors_.attention = take(3 * hidden);
  vectors_.attention_output = take(hidden);
  vectors_.feed_gain = take(hidden);
  vectors_.feed_bias = take(hidden);
  vectors_.contract = take(hidden);
  vectors_.expand = take(config_.intermediate);
}

Run::Desk Run::MakeDesk(int worker) const {
  ProductMemory memory;
  memory.tile_bytes = plan_.tile_bytes;
  const auto part = [&](const ArenaRange& range) {
    return range.offset_bytes + worker * plan_.part_bytes(range);
  };
  if (plan_.slots.size_bytes > 0) {
    memory.slot = arena_.At<char>(part(plan_.slots));
    memory.slot_bytes = plan_.part_bytes(plan_.slots) / plan_.slots_of_worker();
  }
  if (plan_.wide.size_bytes > 0) {
    memory.wide = arena_.At<float>(part(plan_.wide));
  }
  memory.dense = arena_.At<float>(part(plan_.dense));
  memory.sums = arena_.At<float>(part(plan_.sums));
  memory.sum_count =
      plan_.part_bytes(plan_.sums) / static_cast<int64_t>(sizeof(float));
  return {StreamedProduct(store_, memory),
          arena_.At<float>(part(plan_.scores)),
          {}};
}

absl::Status Run::OpenStreams() {
  if (plan_.depth == 1) return absl::OkStatus();
  const int64_t tiles =
      plan_.part_bytes(plan_.schedule) / static_cast<int64_t>(sizeof(Tile));
  const int64_t slots_bytes = plan_.part_bytes(plan_.slots);
  const int64_t slot_bytes = slots_bytes / plan_.slots_of_worker();
  for (int worker = 0; worker < team_.size(); ++worker) {
    TileList list;
    list.room = absl::MakeSpan(
        arena_.At<Tile>(plan_.schedule.offset_bytes) + worker * tiles, tiles);
    const absl::StatusOr<DecoderTiles> starts =
        RecordDecoderTiles(weights_, plan_, store_, worker, &list);
    if (!starts.ok()) return starts.status();
    // After the slot for what does not go through the ring.
    absl::StatusOr<std::unique_ptr<TileStream>> stream =
        OpenRing(store_, list, plan_.depth,
                 absl::MakeSpan(arena_.At<char>(plan_.slots.offset_bytes) +
                                    worker * slots_bytes + slot_bytes,
                                slots_bytes - slot_bytes));
    if (!stream.ok()) return stream.status();
    if (*stream == nullptr) continue;
    desks_[worker].tiles = *starts;
    streams_.push_back(*std::move(stream));
    desks_[worker].product.UseStream(streams_.back().get(), list.tiles());
  }
  return absl::OkStatus();
}

// To where the part's layers begin in the worker's stream.
absl::Status Run::SkipToLayers(int worker) {
  Desk& desk = desks_[worker];
  const int64_t begin = part_.single() ? 0 : desk.tiles.many_tokens;
  return desk.product.SkipTo(begin);
}

absl::Status Run::CheckInput(absl::Span<const int32_t> ids) const {
  const absl::Status status = CheckIds(ids, config_.vocabulary);
  if (!status.ok()) return status;
  const int64_t tokens = static_cast<int64_t>(ids.size());
  if (tokens_ + tokens > plan_.request.positions) {
    return absl::InvalidArgumentError(absl::StrCat(
        tokens, " tokens after ", tokens_, " that were read, but the plan is ",
        "for ", plan_.request.positions));
  }
  return absl::OkStatus();
}

// Whole panels begin where panels of the cache do; others are read by
// themselves.
int64_t Run::NextPartTokens(int64_t position, int64_t left) const {
  if (position % kPanelTokens != 0) return 1;
  return std::min(left, plan_.chunk_tokens);
}

absl::StatusOr<absl::Span<const float>> Run::Append(
    absl::Span<const int32_t> ids) {
  absl::Status status = CheckInput(ids);
  if (!status.ok()) return status;
  step_times_.Clear();
  const int64_t tokens = static_cast<int64_t>(ids.size());
  for (int64_t begin = 0; begin < tokens;) {
    const int64_t count = NextPartTokens(tokens_ + begin, tokens - begin);
    part_.ids = ids.subspan(begin, count);
    part_.position = tokens_ + begin;
    part_.panels = PanelCount(count);
    begin += count;
    part_.is_last = begin == tokens;
    status = team_.Run([this](int worker) { Work(worker); });
    if (!status.ok()) return status;
  }
  // What was used where it lies may have changed under our hands.
  status = store_->CheckFile();
  if (!status.ok()) return status;
  tokens_ += tokens;
  return logits();
}

void Run::Work(int worker) {
  const auto record = [&](int64_t step) {
    if (worker == 0) step_times_.Record(step);
  };
  if (worker == 0) step_times_.Begin();
  team_.Together([&] { return SkipToLayers(worker); });
  team_.Together([&] { return Embed(worker); });
  record(0);
  for (int64_t layer = 0; layer < config_.layers; ++layer) {
    RunLayer(layer, worker);
    record(layer + 1);
  }
  if (part_.is_last) RunOutput(worker);
  record(config_.layers + 1);
}

void Run::RunLayer(int64_t layer, int worker) {
  const DecoderLayerWeights& weights = weights_.layers[layer];
  team_.Together([&] { return ReadLayerVectors(layer, worker); });
  team_.Together([&] { return Normalise(AttentionNorm(), worker); });
  team_.Together([&] { return Attend(layer, worker); });
  team_.Together([&] { return AddAttention(weights, worker); });
  team_.Together([&] { return Normalise(FeedNorm(), worker); });
  for (int64_t begin = 0; begin < config_.intermediate;
       begin += plan_.chunk_features) {
    const IndexRange chunk = {
        begin, std::min(config_.intermediate, begin + plan_.chunk_features)};
    team_.Together([&] { return Expand(weights, chunk, worker); });
    team_.Together([&] { return Contract(weights, chunk, worker); });
  }
}

absl::Status Run::ReadLayerVectors(int64_t layer, int worker) {
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
  return ReadVectors(loads, worker, team_.size(), store_);
}

absl::Status Run::EmbedToken(int64_t token, float* scratch, float* lane) {
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

absl::Status Run::Embed(int worker) {
  const IndexRange panels = ShareOf(part_.panels, 1, worker, team_.size());
  for (int64_t panel = panels.begin; panel < panels.end; ++panel) {
    float* const data = hidden_ + panel * HiddenStride();
    // Two rows, where the panel's normalised states will be.
    float* const scratch = normed_ + panel * HiddenStride();
    const int64_t first = panel * kPanelTokens;
    const int64_t count = std::min(kPanelTokens, part_.tokens() - first);
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

absl::Status Run::Normalise(const NormWeights& norm, int worker) {
  const IndexRange panels = ShareOf(part_.panels, 1, worker, team_.size());
  const int64_t offset = panels.begin * HiddenStride();
  LayerNorm(hidden_ + offset, config_.hidden, panels.size(), norm,
            normed_ + offset);
  return absl::OkStatus();
}

void Run::UseInput(Desk& desk, const float* panels, int64_t features) const {
  if (part_.single()) {
    desk.product.UseSingleToken(panels, features);
  } else {
    desk.product.UsePanels();
  }
}

absl::Status Run::Attend(int64_t layer, int worker) {
  Desk& desk = desks_[worker];
  const IndexRange heads = ShareOf(config_.heads, 1, worker, team_.size());
  if (heads.size() == 0) return absl::OkStatus();
  UseInput(desk, normed_, config_.hidden);
  const int64_t features = config_.head_features();
  const absl::Status status =
      ProjectHeads(layer, {heads.begin * features, heads.end * features}, desk);
  if (!status.ok()) return status;
  for (int64_t head = heads.begin; head < heads.end; ++head) {
    AttendHead(layer, head, desk);
  }
  return absl::OkStatus();
}

absl::Status Run::ProjectHeads(int64_t layer, const IndexRange& features,
                               Desk& desk) {
  // Queries lie where their context will, keys and values in the cache.
  const int64_t in_cache = features.begin * cache_stride_ + part_.position;
  const PanelOutput outputs[] = {
      {work_ + features.begin * kPanelTokens, kPanelTokens, HiddenStride()},
      {Keys(layer) + in_cache, cache_stride_, kPanelTokens},
      {Values(layer) + in_cache, cache_stride_, kPanelTokens}};
  int64_t first = 0;
  for (const PanelOutput& output : outputs) {
    ProductEnds ends;
    ends.bias = vectors_.attention + first + features.begin;
    const absl::Status status = desk.product.MultiplyTransposed(
        weights_.layers[layer].attention.matrix,
        {first + features.begin, first + features.end}, {0, config_.hidden},
        {normed_, HiddenStride()}, part_.panels, ends, output);
    if (!status.ok()) return status;
    first += config_.hidden;
  }
  return absl::OkStatus();
}

void Run::AttendHead(int64_t layer, int64_t head, const Desk& desk) {
  const int64_t features = config_.head_features();
  const float scale = 1.0f / std::sqrt(static_cast<float>(features));
  const int64_t in_cache = head * features * cache_stride_;
  const int64_t tokens_end = part_.position + part_.tokens();
  for (int64_t panel = 0; panel < part_.panels; ++panel) {
    // The panel's queries, then its context.
    float* const place =
        work_ + panel * HiddenStride() + head * features * kPanelTokens;
    const int64_t first = part_.position + panel * kPanelTokens;
    // Those before, and the panel's own.
    const int64_t keys = std::min(first + kPanelTokens, tokens_end);
    MultiplyPanels({Keys(layer) + in_cache, 1, cache_stride_}, keys, features,
                   {place, 0}, 1, {}, {desk.scores, kPanelTokens, 0});
    ScaledSoftmax(keys, first + 1, scale, desk.scores);
    MultiplyPanels({Values(layer) + in_cache, cache_stride_, 1}, features, keys,
                   {desk.scores, 0}, 1, {}, {place, kPanelTokens, 0});
  }
}

absl::Status Run::AddAttention(const DecoderLayerWeights& layer, int worker) {
  Desk& desk = desks_[worker];
  UseInput(desk, work_, config_.hidden);
  const IndexRange outputs =
      ShareOf(config_.hidden, kOutputUnit, worker, team_.size());
  ProductEnds ends;
  ends.bias = vectors_.attention_output + outputs.begin;
  ends.accumulate = true;
  return desk.product.MultiplyTransposed(
      layer.attention_output.matrix, outputs, {0, config_.hidden},
      {work_, HiddenStride()}, part_.panels, ends,
      {hidden_ + outputs.begin * kPanelTokens, kPanelTokens, HiddenStride()});
}

absl::Status Run::Expand(const DecoderLayerWeights& layer,
                         const IndexRange& chunk, int worker) {
  Desk& desk = desks_[worker];
  UseInput(desk, normed_, config_.hidden);
  const IndexRange outputs =
      ShareOf(chunk.size(), kOutputUnit, worker, team_.size());
  ProductEnds ends;
  ends.bias = vectors_.expand + chunk.begin + outputs.begin;
  ends.activation = config_.activation;
  return desk.product.MultiplyTransposed(
      layer.expand.matrix,
      {chunk.begin + outputs.begin, chunk.begin + outputs.end},
      {0, config_.hidden}, {normed_, HiddenStride()}, part_.panels, ends,
      {work_ + outputs.begin * kPanelTokens, kPanelTokens,
       chunk.size() * kPanelTokens});
}

absl::Status Run::Contract(const DecoderLayerWeights& layer,
                           const IndexRange& chunk, int worker) {
  Desk& desk = desks_[worker];
  UseInput(desk, work_, chunk.size());
  const IndexRange outputs =
      ShareOf(config_.hidden, kOutputUnit, worker, team_.size());
  ProductEnds ends;
  if (chunk.begin == 0) ends.bias = vectors_.contract + outputs.begin;
  ends.accumulate = true;
  return desk.product.MultiplyTransposed(
      layer.contract.matrix, outputs, chunk,
      {work_, chunk.size() * kPanelTokens}, part_.panels, ends,
      {hidden_ + outputs.begin * kPanelTokens, kPanelTokens, HiddenStride()});
}

void Run::RunOutput(int worker) {
  team_.Together([&] {
    const std::array<VectorLoad, 2> loads = {
        {{&weights_.norm.gain, vectors_.attention_gain},
         {&weights_.norm.bias, vectors_.attention_bias}}};
    return ReadVectors(loads, worker, team_.size(), store_);
  });
  team_.Together([&] { return Normalise(AttentionNorm(), worker); });
  team_.Together([&] { return MultiplyOutput(worker); });
}

// Of the last token.
absl::Status Run::MultiplyOutput(int worker) {
  Desk& desk = desks_[worker];
  absl::Status status = desk.product.SkipTo(desk.tiles.output);
  if (!status.ok()) return status;
  const int64_t last = part_.tokens() - 1;
  desk.product.UseSingleToken(
      normed_ + last / kPanelTokens * HiddenStride() + last % kPanelTokens,
      config_.hidden);
  const IndexRange rows =
      ShareOf(config_.vocabulary, kPanelTokens, worker, team_.size());
  status = desk.product.Multiply(weights_.output, rows, {0, config_.hidden}, {},
                                 1, {}, {logits_ + rows.begin, 1, 0});
  // Most likely a single token comes next: it is read ahead meanwhile.
  if (status.ok()) status = desk.product.SkipTo(0);
  return status;
}

}  // namespace

absl::StatusOr<std::unique_ptr<DecoderRun>> StartDecoderRun(
    const DecoderConfig& config, const DecoderWeights& weights,
    WeightStore* store, const DecoderPlan& plan) {
  absl::StatusOr<RunMemory> memory =
      TakeRunMemory(plan.peak_bytes, plan.pinned, TensorsToPin(weights), store);
  if (!memory.ok()) return memory.status();
  auto run =
      std::make_unique<Run>(config, weights, store, plan, *std::move(memory));
  const absl::Status status = run->OpenStreams();
  if (!status.ok()) return status;
  return run;
}

}  // namespace lowmem_internal
}  // namespace footprint
