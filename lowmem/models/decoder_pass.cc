#include "footprint/lowmem/models/decoder_pass.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/simd/dense_product.h"
#include "footprint/lowmem/kernels/half_float.h"
#include "footprint/lowmem/kernels/matrix_product.h"
#include "footprint/lowmem/kernels/token_kernels.h"
#include "footprint/lowmem/streaming/pass_memory.h"
#include "footprint/lowmem/weights/float_reader.h"
#include "footprint/lowmem/weights/tile.h"

namespace footprint::lowmem_internal {
namespace {

float RoundToType(DType type, float value) {
  if (type != DType::kBF16 && type != DType::kF16) return value;
  const uint16_t half =
      type == DType::kBF16 ? RoundToBfloat16(value) : RoundToFloat16(value);
  WidenToFloat(type, &half, 1, &value);
  return value;
}

float WordScale(const DecoderConfig& config, const Weight& words) {
  return config.rounds_word_factor
             ? RoundToType(words.dtype(), config.word_factor)
             : config.word_factor;
}

}  // namespace

class DecoderPass::LoadList {
 public:
  explicit LoadList(bool adds_one) : added_(adds_one ? 1.0f : 0.0f) {}

  void AddBias(const Weight& weight, float* destination) {
    Add(weight, destination, 0);
  }
  void AddGain(const Weight& weight, float* destination) {
    Add(weight, destination, added_);
  }
  void AddNorm(const NormTensors& norm, const NormVectors& vectors) {
    AddGain(norm.gain, vectors.gain);
    AddBias(norm.bias, vectors.bias);
  }
  absl::Span<const VectorLoad> loads() const {
    return absl::MakeConstSpan(loads_).first(count_);
  }

 private:
  void Add(const Weight& weight, float* destination, float added) {
    if (weight.exists()) loads_[count_++] = {&weight, destination, added};
  }

  const float added_;
  std::array<VectorLoad, 20> loads_;
  size_t count_ = 0;
};

DecoderPass::DecoderPass(const DecoderConfig& config,
                         const DecoderWeights& weights, const DecoderPlan& plan,
                         const MappedBlock& arena, WeightStore* store)
    : LayerPass(MakeLayerShape(plan), plan, arena, store, config.layers + 2,
                plan.request.sequences),
      config_(config),
      weights_(weights),
      plan_(plan),
      cache_(arena_.At<char>(plan.cache.offset_bytes)),
      fresh_(arena_.At<float>(plan.fresh.offset_bytes)),
      normed_(arena_.At<float>(plan.normed.offset_bytes)),
      part_input_(config.has_norms_before ? normed_ : hidden_),
      work_(arena_.At<float>(plan.work.offset_bytes)),
      logits_(arena_.At<float>(plan.logits.offset_bytes)),
      branch_(arena_.At<float>(plan.branch.offset_bytes)),
      angles_(arena_.At<float>(plan.angles.offset_bytes)),
      word_scale_(WordScale(config, weights.words)) {
  SetVectors();
  for (int worker = 0; worker < workers(); ++worker) AddScratch(worker);
  last_tokens_.reserve(plan.request.sequences);
}

void DecoderPass::SetVectors() {
  VectorRun run(arena_.At<float>(plan_.vectors.offset_bytes));
  const int64_t hidden = config_.hidden;
  const auto take_norm = [&] {
    NormVectors norm;
    norm.gain = run.Take(hidden);
    if (config_.has_rms_norms) return norm;
    norm.bias = run.Take(hidden);
    // A bias that the model does not have is never read.
    std::fill_n(norm.bias, hidden, 0.0f);
    return norm;
  };
  vectors_.attention_norm = take_norm();
  if (config_.has_norms_before) vectors_.feed_norm = take_norm();
  if (config_.has_norms_after) {
    vectors_.after_attention_norm = take_norm();
    vectors_.after_feed_norm = take_norm();
  }
  if (config_.has_attention_bias) {
    vectors_.attention =
        run.Take(config_.query_features() + 2 * config_.key_value_features());
  }
  if (config_.has_output_bias) vectors_.attention_output = run.Take(hidden);
  if (config_.has_feed_bias) {
    vectors_.contract = run.Take(hidden);
    vectors_.expand = run.Take(config_.intermediate);
    if (config_.is_gated) vectors_.gate = run.Take(config_.intermediate);
  }
  if (config_.has_head_norms) {
    vectors_.query_gain = run.Take(config_.query_gains());
    vectors_.key_gain = run.Take(config_.key_gains());
  }
}

void DecoderPass::AddScratch(int worker) {
  ProductMemory memory =
      FindProductMemory(arena_, plan_, worker, plan_.slots_of_worker());
  memory.sums = FindPart<float>(arena_, plan_, plan_.sums, worker);
  memory.sum_count =
      plan_.part_bytes(plan_.sums) / static_cast<int64_t>(sizeof(float));
  AddProduct(memory);
  worker_scratch_.push_back(
      {FindPart<float>(arena_, plan_, plan_.scores, worker),
       FindPart<float>(arena_, plan_, plan_.widened, worker),
       FindPart<float>(arena_, plan_, plan_.lone, worker),
       {}});
}

absl::Status DecoderPass::OpenStreams() {
  // The slot for tiles that do not go through the ring comes first.
  const int64_t slot_bytes =
      plan_.part_bytes(plan_.slots) / plan_.slots_of_worker();
  return OpenRings(slot_bytes, [&](int worker, TileList* list) {
    const absl::StatusOr<DecoderTiles> starts =
        RecordDecoderTiles(weights_, plan_, store_, worker, list);
    if (starts.ok()) worker_scratch_[worker].tiles = *starts;
    return starts.status();
  });
}

// Moves the worker's stream to the beginning of the parts' layers.
absl::Status DecoderPass::SkipToLayers(int worker) {
  return product(worker).SkipTo(
      is_alone() ? 0 : worker_scratch_[worker].tiles.many_tokens);
}

absl::Status DecoderPass::Read(absl::Span<const DecoderPart> parts) {
  parts_ = parts;
  last_tokens_.clear();
  int64_t single_tokens = 0;
  for (const DecoderPart& part : parts) {
    const int64_t slot = part.end_slot() - 1;
    if (part.is_single) ++single_tokens;
    if (!part.is_last) continue;
    last_tokens_.push_back(
        {slot / kPanelTokens, slot % kPanelTokens, part.sequence, 0});
  }
  SetTokens(parts.back().end_slot(),
            plan_.joins_single_tokens() ? 0 : single_tokens);
  return team_.Run([this](int worker) { Work(worker); });
}

const DecoderPart& DecoderPass::PartOf(int64_t slot) const {
  const auto after = std::upper_bound(
      parts_.begin(), parts_.end(), slot,
      [](int64_t at, const DecoderPart& part) { return at < part.first_slot; });
  return *(after - 1);
}

int64_t DecoderPass::TokensIn(int64_t panel) const {
  const int64_t first = panel * kPanelTokens;
  const DecoderPart& part = PartOf(first);
  const int64_t end = part.is_single ? tokens() : part.end_slot();
  return std::min(kPanelTokens, end - first);
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
  if (has_read_output()) RunOutput(worker);
  record(config_.layers + 1);
}

void DecoderPass::RunLayer(int64_t layer, int worker) {
  const DecoderLayerWeights& weights = weights_.layers[layer];
  team_.RunPhase([&] { return ReadLayerVectors(layer, worker); });
  team_.RunPhase([&] {
    const NormVectors norm =
        config_.has_norms_before ? vectors_.attention_norm : NormVectors();
    return NormaliseAfter(layer, norm, ReplacesAt(layer), worker);
  });
  RunAttention(layer, worker);
  RunAttentionOutput(weights, worker);
  const bool replaces = config_.replacing_norms == ReplacingNorms::kAll;
  team_.RunPhase([&] {
    return NormaliseAfter(layer + 1, vectors_.feed_norm, replaces, worker);
  });
  RunFeed(weights, worker);
}

void DecoderPass::RunAttentionOutput(const DecoderLayerWeights& weights,
                                     int worker) {
  const bool adds = !config_.has_norms_after;
  team_.RunPhase([&] {
    return MultiplyContext(
        {weights.attention_output.matrix, vectors_.attention_output, work_,
         adds ? hidden_ : branch_, adds},
        worker);
  });
  if (!adds) AddBranch(vectors_.after_attention_norm, worker);
}

void DecoderPass::RunFeed(const DecoderLayerWeights& weights, int worker) {
  const bool adds = !config_.has_norms_after;
  FeedForward feed;
  if (config_.is_gated) {
    feed.gate = {&weights.gate.weights.matrix, weights.gate.first_output};
  }
  feed.expand = {&weights.expand.weights.matrix, weights.expand.first_output};
  feed.contract = &weights.contract.matrix;
  feed.gate_bias = vectors_.gate;
  feed.expand_bias = vectors_.expand;
  feed.contract_bias = vectors_.contract;
  feed.activation = config_.activation;
  feed.input = part_input_;
  feed.chunk = work_;
  feed.gated_chunk = work_ + plan_.chunk_features * plan_.chunk_tokens;
  feed.output = adds ? hidden_ : branch_;
  feed.adds_to_output = adds;
  RunFeedForward(feed, worker);
  if (!adds) AddBranch(vectors_.after_feed_norm, worker);
}

void DecoderPass::AddBranch(const NormVectors& norm, int worker) {
  team_.RunPhase([&] {
    const IndexRange own = FindPanels(worker);
    float* const branch = branch_ + own.begin * HiddenStride();
    Normalise(branch, norm, own.size(), branch);
    AddPanels(branch, config_.hidden, own.size(),
              hidden_ + own.begin * HiddenStride());
    return absl::OkStatus();
  });
}

absl::Status DecoderPass::ReadLayerVectors(int64_t layer, int worker) {
  const DecoderLayerWeights& from = weights_.layers[layer];
  LoadList list(config_.adds_one_to_gains);
  list.AddNorm(from.attention_norm, vectors_.attention_norm);
  list.AddNorm(from.feed_norm, vectors_.feed_norm);
  list.AddNorm(from.after_attention_norm, vectors_.after_attention_norm);
  list.AddNorm(from.after_feed_norm, vectors_.after_feed_norm);
  list.AddGain(from.query_gain, vectors_.query_gain);
  list.AddGain(from.key_gain, vectors_.key_gain);
  list.AddBias(from.query.weights.bias, vectors_.attention);
  if (!config_.has_joined_matrices && config_.has_attention_bias) {
    float* const keys = vectors_.attention + config_.query_features();
    list.AddBias(from.key.weights.bias, keys);
    list.AddBias(from.value.weights.bias, keys + config_.key_value_features());
  }
  list.AddBias(from.attention_output.bias, vectors_.attention_output);
  list.AddBias(from.gate.weights.bias, vectors_.gate);
  list.AddBias(from.expand.weights.bias, vectors_.expand);
  list.AddBias(from.contract.bias, vectors_.contract);
  return ReadVectors(list.loads(), worker, workers(), store_);
}

absl::Status DecoderPass::EmbedToken(int32_t id, int64_t position,
                                     float* scratch, float* lane) {
  float* const sum = scratch + config_.hidden;
  absl::Status status = ReadRow(*store_, weights_.words, id, sum);
  if (!status.ok()) return status;
  if (!config_.has_position_table() && config_.token_types == 0) {
    for (int64_t i = 0; i < config_.hidden; ++i) {
      lane[i * kPanelTokens] = sum[i] * word_scale_;
    }
    return absl::OkStatus();
  }
  // The second row is that of the position or of the first type.
  status = config_.has_position_table()
               ? ReadRow(*store_, weights_.positions, position, scratch)
               : ReadRow(*store_, weights_.token_types, 0, scratch);
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
    // The two rows lie where the panel's normalised states will be.
    float* const scratch = normed_ + panel * HiddenStride();
    const int64_t count = TokensIn(panel);
    // Padding tokens are computed with, so they must be numbers.
    if (count < kPanelTokens) {
      std::memset(data, 0, HiddenStride() * sizeof(float));
    }
    for (int64_t i = 0; i < count; ++i) {
      const int64_t slot = panel * kPanelTokens + i;
      const DecoderPart& part = PartOf(slot);
      const absl::Status status =
          EmbedToken(part.id(slot - part.first_slot), part.position_of(slot),
                     scratch, data + i);
      if (!status.ok()) return status;
    }
    SetAngles(panel);
  }
  return absl::OkStatus();
}

void DecoderPass::SetAngles(int64_t panel) {
  float* at = angles_ + panel * plan_.angle_floats();
  float places[kPanelTokens];
  for (int64_t i = 0; i < kPanelTokens; ++i) {
    const int64_t slot = panel * kPanelTokens + i;
    places[i] = static_cast<float>(PartOf(slot).position_of(slot));
  }
  for (const RotaryPositions* rotary :
       {&config_.rotary, &config_.sliding_rotary}) {
    float* const sines = at + rotary->pairs() * kPanelTokens;
    for (int64_t pair = 0; pair < rotary->pairs(); ++pair) {
      for (int64_t i = 0; i < kPanelTokens; ++i) {
        const float angle = places[i] * rotary->frequencies[pair];
        const double exact = angle;
        at[pair * kPanelTokens + i] =
            static_cast<float>(std::cos(exact)) * rotary->scale;
        sines[pair * kPanelTokens + i] =
            static_cast<float>(std::sin(exact)) * rotary->scale;
      }
    }
    at = sines + rotary->pairs() * kPanelTokens;
  }
}

RotaryAngles DecoderPass::AnglesOf(int64_t panel, int64_t layer) const {
  const bool is_sliding =
      config_.sliding.slides(layer) && config_.sliding_rotary.pairs() > 0;
  const int64_t full_pairs = config_.rotary.pairs();
  RotaryAngles angles;
  if (!config_.rotating.rotates(layer)) return angles;
  angles.pairs = is_sliding ? config_.sliding_rotary.pairs() : full_pairs;
  angles.cosines = angles_ + panel * plan_.angle_floats() +
                   (is_sliding ? 2 * full_pairs * kPanelTokens : 0);
  angles.sines = angles.cosines + angles.pairs * kPanelTokens;
  angles.are_neighbours = config_.rotary.has_neighbours;
  return angles;
}

void DecoderPass::Normalise(const float* input, const NormVectors& norm,
                            int64_t panels, float* output) const {
  if (config_.has_rms_norms) {
    RmsNorm(config_.hidden, panels, norm.gain, config_.epsilon, input, output);
  } else {
    LayerNorm(input, config_.hidden, panels,
              {norm.gain, norm.bias, config_.epsilon}, output);
  }
}

absl::Status DecoderPass::NormaliseAfter(int64_t step, const NormVectors& norm,
                                         bool replaces, int worker) {
  const IndexRange own = FindPanels(worker);
  const int64_t offset = own.begin * HiddenStride();
  for (int64_t panel = own.begin; panel < own.end; ++panel) {
    const absl::Status status = CheckTokens(step, panel, TokensIn(panel));
    if (!status.ok()) return status;
  }
  if (norm.gain == nullptr) return absl::OkStatus();
  Normalise(hidden_ + offset, norm, own.size(), normed_ + offset);
  if (replaces) {
    std::copy_n(normed_ + offset, own.size() * HiddenStride(),
                hidden_ + offset);
  }
  return absl::OkStatus();
}

// Each worker takes heads of keys, with the query heads that share them.
void DecoderPass::RunAttention(int64_t layer, int worker) {
  const IndexRange heads =
      ComputeShare(config_.key_value_heads(), 1, worker, workers());
  if (!config_.joins_head_norms) {
    team_.RunPhase([&] {
      const absl::Status status = ProjectHeads(layer, heads, worker);
      if (status.ok()) Attend(layer, heads, worker);
      return status;
    });
    return;
  }
  team_.RunPhase([&] { return ProjectHeads(layer, heads, worker); });
  team_.RunPhase([&] {
    NormaliseAllHeads(layer, worker);
    return absl::OkStatus();
  });
  team_.RunPhase([&] {
    Attend(layer, heads, worker);
    return absl::OkStatus();
  });
}

void DecoderPass::NormaliseAllHeads(int64_t layer, int worker) {
  const int64_t lanes = is_alone() ? 1 : kPanelTokens;
  const IndexRange own = FindPanels(worker);
  for (int64_t panel = own.begin; panel < own.end; ++panel) {
    NormaliseHead(config_.query_features(), vectors_.query_gain,
                  config_.epsilon,
                  {work_ + panel * QueryStride(), kPanelTokens, lanes});
    NormaliseHead(
        config_.key_value_features(), vectors_.key_gain, config_.epsilon,
        {Fresh(layer, 0) + panel * kPanelTokens, fresh_stride(), lanes});
  }
}

void DecoderPass::Attend(int64_t layer, const IndexRange& heads, int worker) {
  PlaceHeads(layer, heads);
  if (HasFresh()) KeepHeads(layer, heads);
  const int64_t group = config_.group();
  for (int64_t head = heads.begin * group; head < heads.end * group; ++head) {
    AttendHead(layer, head, worker_scratch_[worker]);
  }
}

absl::Status DecoderPass::ProjectHeads(int64_t layer, const IndexRange& heads,
                                       int worker) {
  if (heads.size() == 0) return absl::OkStatus();
  UseInput(part_input_, config_.hidden, worker);
  const std::array<HeadPart, 3> parts =
      HeadParts(weights_.layers[layer], config_);
  // Queries lie where their context will be; keys and values lie in the cache.
  const int64_t stride = fresh_stride();
  const int64_t first = heads.begin * config_.head_features() * stride;
  const PanelOutput outputs[] = {
      {work_ + heads.begin * parts[0].features * kPanelTokens, kPanelTokens,
       QueryStride()},
      {Fresh(layer, 0) + first, stride, kPanelTokens},
      {Fresh(layer, 1) + first, stride, kPanelTokens}};
  const float* biases = vectors_.attention;
  for (size_t i = 0; i < parts.size(); ++i) {
    ProductEpilogue epilogue;
    if (biases != nullptr) {
      epilogue.bias = biases + heads.begin * parts[i].features;
      biases += config_.key_value_heads() * parts[i].features;
    }
    const absl::Status status =
        MultiplyOwn(parts[i].linear->weights.matrix, parts[i].OutputsOf(heads),
                    {0, config_.hidden}, {part_input_, HiddenStride()},
                    epilogue, outputs[i], worker);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

void DecoderPass::PlaceHead(const float* gain, const RotaryAngles& angles,
                            const HeadView& head) const {
  if (gain != nullptr) {
    NormaliseHead(config_.head_features(), gain, config_.epsilon, head);
  }
  if (angles.pairs > 0) RotateHead(angles, head);
}

void DecoderPass::PlaceHeads(int64_t layer, const IndexRange& heads) {
  const int64_t features = config_.head_features();
  const int64_t lanes = is_alone() ? 1 : kPanelTokens;
  // A norm of all heads together was applied before.
  const bool has_norms = !config_.joins_head_norms;
  for (int64_t panel = 0; panel < panels(); ++panel) {
    const RotaryAngles angles = AnglesOf(panel, layer);
    for (int64_t head = heads.begin * config_.group();
         head < heads.end * config_.group(); ++head) {
      PlaceHead(has_norms ? vectors_.query_gain : nullptr, angles,
                {work_ + panel * QueryStride() + head * features * kPanelTokens,
                 kPanelTokens, lanes});
    }
    const int64_t stride = fresh_stride();
    for (int64_t head = heads.begin; head < heads.end; ++head) {
      PlaceHead(
          has_norms ? vectors_.key_gain : nullptr, angles,
          {Fresh(layer, 0) + head * features * stride + panel * kPanelTokens,
           stride, lanes});
    }
  }
}

DecoderPass::PanelKeys DecoderPass::KeysOf(const DecoderPart& part,
                                           int64_t slot, int64_t layer) const {
  const int64_t first = part.position_of(slot);
  const int64_t tokens_end = part.position_of(part.end_slot());
  const int64_t window =
      config_.sliding.slides(layer) ? config_.sliding.window : 0;
  PanelKeys keys;
  // The keys are all earlier ones and the panel's own, or also those after it.
  if (!config_.is_bidirectional) {
    keys.range.end = std::min(first + kPanelTokens, tokens_end);
    keys.seen = {-kPanelTokens, first + 1};
  } else if (window > 0) {
    keys.range.end = std::min(first + kPanelTokens - 1 + window, tokens_end);
    keys.seen = {-kPanelTokens, first + window};
  } else {
    keys.range.end = tokens_end;
    keys.seen = {-kPanelTokens, tokens_end};
  }
  if (window == 0) return keys;
  // Sums over keys are cut at multiples of kSumBlock from the first key on, so
  // that a window's bits do not depend on the panel.
  const int64_t lowest = first + 1 - window;
  keys.range.begin = std::max<int64_t>(0, lowest) / kSumBlock * kSumBlock;
  keys.seen = {lowest - keys.range.begin,
               keys.seen.first_end - keys.range.begin};
  return keys;
}

void DecoderPass::AttendHead(int64_t layer, int64_t head,
                             const WorkerScratch& scratch) {
  const int64_t features = config_.head_features();
  for (int64_t panel = 0; panel < panels(); ++panel) {
    float* const place =
        work_ + panel * QueryStride() + head * features * kPanelTokens;
    const int64_t first = panel * kPanelTokens;
    if (!PartOf(first).is_single || scratch.lone == nullptr) {
      AttendPanel(layer, head, first, scratch, place);
      continue;
    }
    // Tokens of different sequences share no keys: each is the first of a panel
    // of its own.
    for (int64_t lane = 0; lane < TokensIn(panel); ++lane) {
      const auto copy = [&](const float* from, float* to) {
        for (int64_t i = 0; i < features; ++i) {
          to[i * kPanelTokens] = from[i * kPanelTokens];
        }
      };
      copy(place + lane, scratch.lone);
      AttendPanel(layer, head, first + lane, scratch, scratch.lone);
      copy(scratch.lone, place + lane);
    }
  }
}

void DecoderPass::AttendPanel(int64_t layer, int64_t head, int64_t slot,
                              const WorkerScratch& scratch, float* place) {
  const DecoderPart& part = PartOf(slot);
  const int64_t shared = head / config_.group();
  const PanelKeys keys = KeysOf(part, slot, layer);
  MultiplyKeys(HeadOf(part.sequence, layer, 0, shared), keys.range, place,
               scratch);
  ScaledSoftmax(keys.range.size(), keys.seen, config_.score_scale(),
                scratch.scores);
  MultiplyValues(HeadOf(part.sequence, layer, 1, shared), keys.range, scratch,
                 place);
}

CacheHead DecoderPass::HeadOf(int64_t sequence, int64_t layer, int64_t part,
                              int64_t head) const {
  const CacheType type = plan_.request.cache_type;
  const int64_t features = config_.head_features();
  const int64_t positions = plan_.padded_positions();
  const int64_t cached = layer % config_.cached_layers();
  const int64_t index = (cached * 2 + part) * config_.key_value_heads() + head;
  char* const data = cache_ + sequence * plan_.sequence_bytes() +
                     index * CacheHeadBytes(type, features, positions);
  return {type, data, features, positions};
}

float* DecoderPass::Fresh(int64_t layer, int64_t part) const {
  if (HasFresh()) {
    return fresh_ + part * config_.key_value_features() * fresh_stride();
  }
  return reinterpret_cast<float*>(HeadOf(0, layer, part, 0).data) +
         parts_[0].position;
}

void DecoderPass::KeepHeads(int64_t layer, const IndexRange& heads) {
  const int64_t head_floats = config_.head_features() * fresh_stride();
  for (const DecoderPart& tokens : parts_) {
    for (int64_t part = 0; part < 2; ++part) {
      for (int64_t head = heads.begin; head < heads.end; ++head) {
        RoundIntoCache(
            HeadOf(tokens.sequence, layer, part, head),
            Fresh(layer, part) + head * head_floats + tokens.first_slot,
            fresh_stride(), tokens.position, tokens.tokens());
      }
    }
  }
}

// The rows of the matrix are keys, so it may be cut between any two.
void DecoderPass::MultiplyKeys(const CacheHead& head, const IndexRange& keys,
                               const float* queries,
                               const WorkerScratch& scratch) const {
  const PanelOutput output = {scratch.scores, kPanelTokens, 0};
  if (!IsRounded()) {
    const auto* const data = reinterpret_cast<const float*>(head.data);
    MultiplyPanels({data + keys.begin, 1, head.positions}, keys.size(),
                   head.features, {queries, 0}, 1, {}, output);
    return;
  }
  const int64_t most =
      std::min(kMostWidenedPositions,
               std::max(kPanelTokens, kWidenedFloats / head.features));
  for (int64_t first = keys.begin; first < keys.end; first += most) {
    const int64_t count = std::min(most, keys.end - first);
    WidenFromCache(head, 0, head.features, first, count, scratch.widened, most);
    MultiplyPanels(
        {scratch.widened, 1, most}, count, head.features, {queries, 0}, 1, {},
        {output.data + (first - keys.begin) * kPanelTokens, kPanelTokens, 0});
  }
}

// The columns are keys: sums are cut at multiples of kSumBlock, and rows
// between any two.
void DecoderPass::MultiplyValues(const CacheHead& head, const IndexRange& keys,
                                 const WorkerScratch& scratch,
                                 float* context) const {
  if (!IsRounded()) {
    const auto* const data = reinterpret_cast<const float*>(head.data);
    MultiplyPanels({data + keys.begin, head.positions, 1}, head.features,
                   keys.size(), {scratch.scores, 0}, 1, {},
                   {context, kPanelTokens, 0});
    return;
  }
  constexpr int64_t kRows = kWidenedFloats / kSumBlock;
  for (int64_t feature = 0; feature < head.features; feature += kRows) {
    const int64_t rows = std::min(kRows, head.features - feature);
    ProductEpilogue epilogue;
    for (int64_t first = keys.begin; first < keys.end; first += kSumBlock) {
      const int64_t count = std::min(kSumBlock, keys.end - first);
      WidenFromCache(head, feature, rows, first, count, scratch.widened,
                     kSumBlock);
      MultiplyPanels({scratch.widened, kSumBlock, 1}, rows, count,
                     {scratch.scores + (first - keys.begin) * kPanelTokens, 0},
                     1, epilogue,
                     {context + feature * kPanelTokens, kPanelTokens, 0});
      epilogue.accumulate = true;
    }
  }
}

void DecoderPass::RunOutput(int worker) {
  team_.RunPhase([&] {
    LoadList list(config_.adds_one_to_gains);
    list.AddNorm(weights_.norm, vectors_.attention_norm);
    return ReadVectors(list.loads(), worker, workers(), store_);
  });
  team_.RunPhase([&] {
    return NormaliseAfter(config_.layers, vectors_.attention_norm,
                          /*replaces=*/false, worker);
  });
  team_.RunPhase([&] {
    if (!part().next.empty()) return SumOutput(worker);
    return part().wants_state ? CopyStates(worker) : MultiplyOutput(worker);
  });
  team_.RunPhase([&] {
    if (worker == 0 && !part().next.empty()) FinishScores();
    return absl::OkStatus();
  });
}

absl::Status DecoderPass::AddLogits(const IndexRange& rows, const float* logits,
                                    int64_t panel_stride, int worker) {
  ExponentialSum* const sums = SumsOf(worker);
  const auto again = static_cast<int64_t>(part().again.size());
  for (int64_t token = again; token < tokens(); ++token) {
    const float* const own =
        logits + token / kPanelTokens * panel_stride + token % kPanelTokens;
    const int64_t next = part().next[token - again];
    for (int64_t row = rows.begin; row < rows.end; ++row) {
      const float logit = own[(row - rows.begin) * kPanelTokens];
      if (!ExponentialSum::Takes(logit)) {
        return NotFinite(*store_, "the output");
      }
      const float divided = logit / config_.logit_divisor;
      sums[token].Add(divided);
      if (row == next) part().scores[token - again] = divided;
    }
  }
  return absl::OkStatus();
}

// The states are not needed after the last norm: logits lie there.
absl::Status DecoderPass::SumOutput(int worker) {
  StreamedProduct& product = this->product(worker);
  absl::Status status = product.SkipTo(worker_scratch_[worker].tiles.output);
  if (!status.ok()) return status;
  std::uninitialized_fill_n(SumsOf(worker), tokens(), ExponentialSum());
  const int64_t rows_at_once = config_.hidden / workers();
  float* const logits =
      hidden_ + worker * rows_at_once * panels() * kPanelTokens;
  const int64_t panel_stride = rows_at_once * kPanelTokens;
  const auto use = [&](const IndexRange& rows) {
    return AddLogits(rows, logits, panel_stride, worker);
  };
  // Bits do not depend on how GPT-2's tokens are cut into calls.
  const int64_t single_tokens =
      is_alone() || config_.is_transposed ? tokens() : 0;
  status = product.MultiplyInParts(
      weights_.output,
      ComputeShare(config_.vocabulary, kPanelTokens, worker, workers()),
      {normed_, HiddenStride()}, panels(),
      {logits, rows_at_once, single_tokens, use});
  if (status.ok()) {
    status = product.SkipTo(worker_scratch_[worker].tiles.many_tokens);
  }
  return status;
}

void DecoderPass::FinishScores() {
  const auto again = static_cast<int64_t>(part().again.size());
  for (int64_t token = again; token < tokens(); ++token) {
    ExponentialSum all;
    for (int worker = 0; worker < workers(); ++worker) {
      all.Merge(SumsOf(worker)[token]);
    }
    // The token's own logit is there already.
    part().scores[token - again] -= all.Log();
  }
}

// After the last layer, nothing else uses this memory.
absl::Status DecoderPass::CopyStates(int worker) {
  const int64_t first = config_.is_bidirectional ? 0 : tokens() - 1;
  const IndexRange own = ComputeShare(tokens() - first, 1, worker, workers());
  for (int64_t i = own.begin; i < own.end; ++i) {
    const int64_t token = first + i;
    const float* const from =
        normed_ + token / kPanelTokens * HiddenStride() + token % kPanelTokens;
    float* const to = work_ + i * config_.hidden;
    for (int64_t feature = 0; feature < config_.hidden; ++feature) {
      to[feature] = from[feature * kPanelTokens];
    }
    if (!AreFinite(to, config_.hidden)) {
      return NotFinite(*store_, "the last norm");
    }
  }
  return absl::OkStatus();
}

// Multiplies each part's last token alone.
absl::Status DecoderPass::MultiplyOutput(int worker) {
  StreamedProduct& product = this->product(worker);
  absl::Status status = product.SkipTo(worker_scratch_[worker].tiles.output);
  if (!status.ok()) return status;
  product.UseSingleTokens({normed_, HiddenStride()}, config_.hidden,
                          last_tokens_);
  const IndexRange rows =
      ComputeShare(config_.vocabulary, kPanelTokens, worker, workers());
  status = product.Multiply(weights_.output, rows, {0, config_.hidden}, {}, 0,
                            {}, {logits_ + rows.begin, 1, config_.vocabulary});
  for (const StreamedProduct::SingleToken& token : last_tokens_) {
    float* const logits =
        logits_ + token.output_panel * config_.vocabulary + rows.begin;
    if (status.ok() && !AreFinite(logits, rows.size())) {
      status = NotFinite(*store_, "the output");
    }
    if (config_.logit_divisor == 1) continue;
    for (int64_t i = 0; i < rows.size(); ++i) {
      logits[i] /= config_.logit_divisor;
    }
  }
  // The next call most likely has a single token, so its tiles are read ahead.
  if (status.ok()) status = product.SkipTo(0);
  return status;
}

}  // namespace footprint::lowmem_internal
