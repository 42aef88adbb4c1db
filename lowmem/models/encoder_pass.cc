#include "footprint/lowmem/models/encoder_pass.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "footprint/lowmem/kernels/matrix_product.h"
#include "footprint/lowmem/models/encoder_tiles.h"
#include "footprint/lowmem/streaming/pass_memory.h"
#include "footprint/lowmem/weights/float_reader.h"
#include "footprint/lowmem/weights/tile.h"

namespace footprint::lowmem_internal {
namespace {

constexpr int kLayerVectors = 10;

// Rows of the tables that are in memory at once; a panel has room for them.
constexpr int64_t kPositionRows = 8;
constexpr int64_t kEmbeddingRows = 2 + kPositionRows;
static_assert(kEmbeddingRows <= kPanelTokens);

// Returns the bucket of a distance, one of 32: short distances have their own,
// longer ones share them in growing ranges, and keys after the query have the
// second half (T5's rule).
int64_t DistanceKind(int64_t distance) {
  constexpr int64_t kOwn = 8;
  constexpr int64_t kHalf = 16;
  // 8 * sqrt(2)^i, rounded up.
  constexpr std::array<int64_t, 7> kBegins = {12, 16, 23, 32, 46, 64, 91};
  const int64_t length = std::abs(distance);
  int64_t kind = std::min(length, kOwn);
  for (const int64_t begin : kBegins) kind += length >= begin ? 1 : 0;
  return distance > 0 ? kind + kHalf : kind;
}

}  // namespace

EncoderPass::EncoderPass(const EncoderConfig& config,
                         const EncoderWeights& weights, const EncoderPlan& plan,
                         const MappedBlock& arena, WeightStore* store)
    : LayerPass(MakeLayerShape(plan), plan, arena, store, config.layers + 1),
      config_(config),
      weights_(weights),
      plan_(plan),
      sums_(arena_.At<float>(plan.sums.offset_bytes)),
      chunk_(arena_.At<float>(plan.work.offset_bytes)) {
  SetVectors();
  for (int worker = 0; worker < workers(); ++worker) AddScratch(worker);
}

void EncoderPass::SetVectors() {
  VectorRun run(arena_.At<float>(plan_.vectors.offset_bytes));
  const int64_t hidden = config_.hidden;
  vectors_.query = run.Take(hidden);
  vectors_.key = run.Take(hidden);
  vectors_.value = run.Take(hidden);
  vectors_.attention_output = run.Take(hidden);
  vectors_.contract = run.Take(hidden);
  vectors_.attention_norm = {run.Take(hidden), run.Take(hidden),
                             config_.epsilon};
  vectors_.output_norm = {run.Take(hidden), run.Take(hidden), config_.epsilon};
  vectors_.expand = run.Take(config_.intermediate);
  vectors_.distances = run.Take(config_.distances * config_.heads);
}

void EncoderPass::AddScratch(int worker) {
  AddProduct(FindProductMemory(arena_, plan_, worker, plan_.depth));
  const int64_t tokens = plan_.padded_tokens();
  const int64_t head_floats = config_.head_features() * tokens;
  float* const work =
      arena_.At<float>(plan_.work.offset_bytes +
                       worker * (2 * head_floats + tokens * kPanelTokens) *
                           static_cast<int64_t>(sizeof(float)));
  worker_scratch_.push_back({work, work + head_floats, work + 2 * head_floats});
}

absl::Status EncoderPass::OpenStreams() {
  return OpenRings(/*reserved_bytes=*/0, [&](int worker, TileList* list) {
    return RecordEncoderTiles(weights_, plan_, store_, worker, list);
  });
}

absl::Status EncoderPass::Compute(absl::Span<const int32_t> ids,
                                  absl::Span<const int32_t> token_types,
                                  float* states) {
  ids_ = ids;
  token_types_ = token_types;
  states_ = states;
  SetTokens(static_cast<int64_t>(ids_.size()),
            /*single_tokens=*/ids_.size() == 1 ? 1 : 0);
  return team_.Run([this](int worker) { Work(worker); });
}

void EncoderPass::Work(int worker) {
  const auto record = [&](int64_t step) {
    if (worker == 0) step_times_.Record(step);
  };
  if (worker == 0) step_times_.Begin();
  // After an error, streams may be at any position.
  team_.RunPhase([&] { return product(worker).SkipTo(0); });
  team_.RunPhase([&] { return ReadNormVectors(worker); });
  team_.RunPhase([&] { return Embed(worker); });
  record(0);
  for (int64_t layer = 0; layer < config_.layers; ++layer) {
    RunLayer(layer, worker);
    record(layer + 1);
  }
  team_.RunPhase([&] {
    WriteOutput(worker);
    return absl::OkStatus();
  });
}

void EncoderPass::RunLayer(int64_t layer, int worker) {
  const EncoderLayerWeights& weights = weights_.layers[layer];
  team_.RunPhase([&] { return ReadLayerVectors(layer, worker); });
  team_.RunPhase([&] { return Attend(weights, worker); });
  team_.RunPhase([&] {
    return MultiplyContext(
        {weights.attention_output.matrix, vectors_.attention_output, sums_,
         hidden_, /*adds_to_output=*/true},
        worker);
  });
  team_.RunPhase([&] {
    Normalise(nullptr, vectors_.attention_norm, worker);
    return absl::OkStatus();
  });
  FeedForward feed;
  feed.expand.matrix = &weights.expand.matrix;
  feed.contract = &weights.contract.matrix;
  feed.expand_bias = vectors_.expand;
  feed.contract_bias = vectors_.contract;
  feed.activation = config_.activation;
  feed.input = hidden_;
  feed.chunk = chunk_;
  feed.output = sums_;
  RunFeedForward(feed, worker);
  team_.RunPhase([&] {
    Normalise(sums_, vectors_.output_norm, worker);
    return CheckStates(layer + 1, worker);
  });
}

absl::Status EncoderPass::ReadNormVectors(int worker) {
  if (config_.distances > 0 && worker == 0) {
    const absl::Status status = ReadRows(*store_, weights_.distances, 0,
                                         config_.distances, vectors_.distances);
    if (!status.ok()) return status;
  }
  const std::array<VectorLoad, 2> loads = {
      {{&weights_.norm.gain, const_cast<float*>(vectors_.output_norm.gain)},
       {&weights_.norm.bias, const_cast<float*>(vectors_.output_norm.bias)}}};
  return ReadVectors(loads, worker, workers(), store_);
}

absl::Status EncoderPass::ReadLayerVectors(int64_t layer, int worker) {
  const EncoderLayerWeights& from = weights_.layers[layer];
  const auto norm = [](const float* vector) {
    return const_cast<float*>(vector);
  };
  const std::array<VectorLoad, kLayerVectors> loads = {
      {{&from.query.bias, vectors_.query},
       {&from.key.bias, vectors_.key},
       {&from.value.bias, vectors_.value},
       {&from.attention_output.bias, vectors_.attention_output},
       {&from.attention_norm.gain, norm(vectors_.attention_norm.gain)},
       {&from.attention_norm.bias, norm(vectors_.attention_norm.bias)},
       {&from.expand.bias, vectors_.expand},
       {&from.contract.bias, vectors_.contract},
       {&from.output_norm.gain, norm(vectors_.output_norm.gain)},
       {&from.output_norm.bias, norm(vectors_.output_norm.bias)}}};
  return ReadVectors(loads, worker, workers(), store_);
}

absl::Status EncoderPass::ReadPositions(const IndexRange& tokens, float* rows) {
  const auto is_padding = [this](int32_t id) {
    return id == config_.padding_id;
  };
  const auto begin = ids_.begin() + tokens.begin;
  const auto end = ids_.begin() + tokens.end;
  // Padding tokens do not advance the position.
  int64_t position = config_.first_position + tokens.begin -
                     std::count_if(ids_.begin(), begin, is_padding);
  if (std::none_of(begin, end, is_padding)) {
    return ReadRows(*store_, weights_.positions, position, tokens.size(), rows);
  }
  for (auto id = begin; id != end; ++id, rows += config_.hidden) {
    const absl::Status status =
        ReadRow(*store_, weights_.positions,
                is_padding(*id) ? config_.padding_id : position++, rows);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status EncoderPass::EmbedTokens(const IndexRange& tokens, float* lanes,
                                      EmbeddingRows* rows) {
  absl::Status status = ReadPositions(tokens, rows->positions);
  if (!status.ok()) return status;
  for (int64_t token = tokens.begin; token < tokens.end; ++token) {
    status = ReadRow(*store_, weights_.words, ids_[token], rows->word);
    if (!status.ok()) return status;
    if (config_.token_types > 0) {
      const int64_t type = token_types_.empty() ? 0 : token_types_[token];
      if (type != rows->type_in_memory) {
        status = ReadRow(*store_, weights_.token_types, type, rows->type);
        if (!status.ok()) return status;
        rows->type_in_memory = type;
      }
      for (int64_t i = 0; i < config_.hidden; ++i) {
        rows->word[i] += rows->type[i];
      }
    }
    const int64_t at = token - tokens.begin;
    const float* const position = rows->positions + at * config_.hidden;
    for (int64_t i = 0; i < config_.hidden; ++i) {
      lanes[i * kPanelTokens + at] = rows->word[i] + position[i];
    }
  }
  return absl::OkStatus();
}

absl::Status EncoderPass::Embed(int worker) {
  // A panel's sums are not in use yet, so the rows are stored there.
  const IndexRange own = FindPanels(worker);
  if (own.size() == 0) return absl::OkStatus();
  float* const scratch = sums_ + own.begin * HiddenStride();
  EmbeddingRows rows = {scratch, scratch + config_.hidden,
                        scratch + 2 * config_.hidden};
  for (int64_t panel = own.begin; panel < own.end; ++panel) {
    float* const data = hidden_ + panel * HiddenStride();
    const int64_t first = panel * kPanelTokens;
    const int64_t end = std::min(first + kPanelTokens, tokens());
    if (end - first < kPanelTokens) {
      std::memset(data, 0, HiddenStride() * sizeof(float));
    }
    for (int64_t token = first; token < end; token += kPositionRows) {
      const absl::Status status =
          EmbedTokens({token, std::min(end, token + kPositionRows)},
                      data + (token - first), &rows);
      if (!status.ok()) return status;
    }
  }
  // Padding tokens are computed with, so they must be numbers.
  std::memset(scratch, 0, kEmbeddingRows * config_.hidden * sizeof(float));
  Normalise(nullptr, vectors_.output_norm, worker);
  return CheckStates(0, worker);
}

absl::Status EncoderPass::Attend(const EncoderLayerWeights& layer, int worker) {
  UseInput(hidden_, config_.hidden, worker);
  const IndexRange heads = ComputeShare(config_.heads, 1, worker, workers());
  for (int64_t head = heads.begin; head < heads.end; ++head) {
    const absl::Status status = ProjectHead(layer, head, worker);
    if (!status.ok()) return status;
    AttendHead(head, worker_scratch_[worker]);
  }
  return absl::OkStatus();
}

absl::Status EncoderPass::ProjectHead(const EncoderLayerWeights& layer,
                                      int64_t head, int worker) {
  const WorkerScratch& worker_scratch = worker_scratch_[worker];
  const int64_t features = config_.head_features();
  const int64_t first = head * features;
  struct Projection {
    const LinearWeights& weights;
    const float* bias;
    PanelOutput output;
  };
  // Queries lie where their context will be. Values lie token after token,
  // because the product runs along their rows.
  const Projection projections[] = {
      {layer.query,
       vectors_.query,
       {sums_ + first * kPanelTokens, kPanelTokens, HiddenStride()}},
      {layer.key,
       vectors_.key,
       {worker_scratch.key, kPanelTokens, features * kPanelTokens}},
      {layer.value,
       vectors_.value,
       {worker_scratch.value, panels() * kPanelTokens, kPanelTokens}}};
  for (const Projection& projection : projections) {
    ProductEpilogue epilogue;
    epilogue.bias = projection.bias + first;
    const absl::Status status = product(worker).Multiply(
        projection.weights.matrix, {first, first + features},
        {0, config_.hidden}, {hidden_, HiddenStride()}, joint_panels(),
        epilogue, projection.output);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

void EncoderPass::AttendHead(int64_t head,
                             const WorkerScratch& worker_scratch) {
  const int64_t features = config_.head_features();
  const int64_t panel_stride = features * kPanelTokens;
  const float scale = 1.0f / std::sqrt(static_cast<float>(features));
  for (int64_t panel = 0; panel < panels(); ++panel) {
    // Holds the panel's queries, then its context.
    float* const place = sums_ + panel * HiddenStride() + head * panel_stride;
    for (int64_t keys = 0; keys < panels(); ++keys) {
      MultiplyPanels(
          {worker_scratch.key + keys * panel_stride, 1, kPanelTokens},
          std::min(kPanelTokens, tokens() - keys * kPanelTokens), features,
          {place, 0}, 1, {},
          {worker_scratch.scores + keys * kPanelTokens * kPanelTokens,
           kPanelTokens, 0});
    }
    if (config_.distances > 0) {
      AddDistances(head, panel, worker_scratch.scores);
    }
    ScaledSoftmax(tokens(), tokens(), scale, worker_scratch.scores);
    MultiplyPanels({worker_scratch.value, panels() * kPanelTokens, 1}, features,
                   tokens(), {worker_scratch.scores, 0}, 1, {},
                   {place, kPanelTokens, 0});
  }
}

// Scores are scaled later, so the bias is divided by the scale here.
void EncoderPass::AddDistances(int64_t head, int64_t panel,
                               float* scores) const {
  const float scale = std::sqrt(static_cast<float>(config_.head_features()));
  const int64_t first = panel * kPanelTokens;
  for (int64_t key = 0; key < tokens(); ++key) {
    for (int64_t lane = 0; lane < kPanelTokens; ++lane) {
      const int64_t kind = DistanceKind(key - (first + lane));
      scores[key * kPanelTokens + lane] +=
          scale * vectors_.distances[kind * config_.heads + head];
    }
  }
}

void EncoderPass::Normalise(const float* addend, const NormWeights& norm,
                            int worker) {
  const IndexRange own = FindPanels(worker);
  const int64_t offset = own.begin * HiddenStride();
  AddLayerNorm(addend == nullptr ? nullptr : addend + offset, config_.hidden,
               own.size(), norm, hidden_ + offset);
}

void EncoderPass::WriteOutput(int worker) {
  const IndexRange own = ComputeShare(tokens(), 1, worker, workers());
  for (int64_t token = own.begin; token < own.end; ++token) {
    const float* const lane =
        hidden_ + token / kPanelTokens * HiddenStride() + token % kPanelTokens;
    float* const state = states_ + token * config_.hidden;
    for (int64_t i = 0; i < config_.hidden; ++i) {
      state[i] = lane[i * kPanelTokens];
    }
  }
}

}  // namespace footprint::lowmem_internal
