#include "footprint/lowmem/models/decoder_plan.h"

#include <algorithm>
#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/simd/dense_product.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/lowmem/kernels/int8_product.h"
#include "footprint/lowmem/kernels/token_panel.h"
#include "footprint/lowmem/weights/tile.h"

namespace footprint {
namespace {

using lowmem_internal::OutputUnit;

// Beyond this a tile leaves the second-level cache before it is used up.
constexpr int64_t kLargestTileBytes = 256 << 10;
// Beyond this a chunk's states leave the caches, and reading weights costs
// little against computing with them.
constexpr int64_t kLargestChunkTokens = 512;
constexpr int64_t kLargestChunkBytes = 1 << 20;

// Sizes that may be chosen.
struct Choice {
  int64_t tile_bytes = 0;
  int64_t chunk_tokens = 0;
  int64_t chunk_features = 0;
  int depth = 1;
};

bool operator==(const Choice& a, const Choice& b) {
  return a.tile_bytes == b.tile_bytes && a.chunk_tokens == b.chunk_tokens &&
         a.chunk_features == b.chunk_features && a.depth == b.depth;
}

// Returns the bytes of one layer's small vectors, in the order of
// DecoderPass::SetVectors.
int64_t VectorsBytes(const DecoderConfig& config) {
  // The last norm of the model lies where attention's is.
  const int64_t norms =
      (config.has_norms_before ? 2 : 1) + (config.has_norms_after ? 2 : 0);
  int64_t floats = norms * config.hidden * (config.has_rms_norms ? 1 : 2);
  if (config.has_attention_bias) {
    floats += config.query_features() + 2 * config.key_value_features();
  }
  if (config.has_output_bias) floats += config.hidden;
  if (config.has_feed_bias) {
    floats += config.hidden + config.intermediate * (config.is_gated ? 2 : 1);
  }
  if (config.has_head_norms)
    floats += config.query_gains() + config.key_gains();
  return floats * static_cast<int64_t>(sizeof(float));
}

// Returns the most features that a row of a matrix has. A tile has at least one
// row, unless matrices are stored transposed.
int64_t LongestRow(const DecoderConfig& config) {
  return config.is_transposed
             ? config.hidden
             : std::max(config.hidden, config.query_features());
}

int64_t Padded(int64_t tokens) { return PanelCount(tokens) * kPanelTokens; }

// Returns the bytes of the largest tile that there is: no slot needs more.
int64_t LargestTileBytes(const DecoderPlanRequest& request,
                         const Choice& choice) {
  const DecoderConfig& config = request.config;
  const int64_t workers = request.workers;
  const int64_t heads_share =
      LargestShare(config.key_value_heads(), 1, workers) * config.group() *
      config.head_features();
  const int64_t hidden_share =
      LargestShare(config.hidden, OutputUnit(config), workers);
  const int64_t chunk_share =
      LargestShare(choice.chunk_features, OutputUnit(config), workers);
  const int64_t words_share =
      config.is_bidirectional
          ? 0
          : LargestShare(config.vocabulary, kPanelTokens, workers);
  const int64_t widest =
      std::max({heads_share, hidden_share, chunk_share, words_share});
  const int64_t elements = std::max(
      config.hidden * widest,
      std::max(choice.chunk_features, config.query_features()) * hidden_share);
  return std::min(choice.tile_bytes, request.needs.BytesOf(elements));
}

// Takes equal parts for all workers, after the plan's sizes are set.
void TakeWorkersBuffers(int64_t tile_bytes, ArenaLayout* layout,
                        DecoderPlan* plan) {
  const DecoderPlanRequest& request = plan->request;
  const DecoderConfig& config = request.config;
  const int64_t workers = request.workers;
  const int64_t sequences = request.sequences;
  const int64_t positions = plan->padded_positions();
  const int64_t float_bytes = sizeof(float);
  plan->scores =
      layout->TakeParts(workers, positions * kPanelTokens * float_bytes);
  const int64_t longest =
      std::max({config.hidden, plan->chunk_features, config.query_features()});
  plan->wide =
      layout->TakeParts(workers, WideBytes(request.needs, tile_bytes, longest));
  const int64_t single_tokens = sequences == 1 ? 1 : Padded(sequences);
  plan->dense =
      layout->TakeParts(workers, single_tokens * longest * float_bytes);
  if (request.needs.rounds_inputs) {
    const int64_t single_bytes =
        sequences == 1 ? 0 : Int8Bytes(longest, single_tokens);
    plan->rounded = layout->TakeParts(
        workers, Int8Bytes(longest, plan->chunk_tokens) + single_bytes);
  }
  if (sequences > 1) {
    plan->lone = layout->TakeParts(
        workers, config.head_features() * kPanelTokens * float_bytes);
  }
  if (config.is_transposed && !plan->joins_single_tokens()) {
    plan->sums = layout->TakeParts(workers, longest * float_bytes);
  }
}

DecoderPlan Lay(const DecoderPlanRequest& request, const Choice& choice) {
  DecoderPlan plan;
  plan.request = request;
  plan.tile_bytes = choice.tile_bytes;
  plan.chunk_tokens = choice.chunk_tokens;
  plan.chunk_features = choice.chunk_features;
  plan.depth = choice.depth;
  const DecoderConfig& config = request.config;
  const int64_t workers = request.workers;
  const int64_t float_bytes = sizeof(float);
  const int64_t positions = plan.padded_positions();
  const int64_t state_bytes = config.hidden * choice.chunk_tokens * float_bytes;
  ArenaLayout layout;
  const int64_t tile_bytes = LargestTileBytes(request, choice);
  // Takes memory for tiles, and for keys and values.
  plan.slots = TakeSlots(workers * plan.slots_of_worker(), tile_bytes,
                         request.needs, &layout);
  const int64_t sequences = request.sequences;
  plan.cache = layout.Take(
      sequences * config.cached_layers() * 2 * config.key_value_heads() *
      CacheHeadBytes(request.cache_type, config.head_features(), positions));
  const bool is_rounded = request.cache_type != CacheType::kF32;
  if (is_rounded || sequences > 1) {
    plan.fresh = layout.Take(2 * config.key_value_features() *
                             choice.chunk_tokens * float_bytes);
  }
  if (is_rounded) {
    plan.widened = layout.TakeParts(
        workers,
        std::max(kWidenedFloats, config.head_features() * kPanelTokens) *
            float_bytes);
  }
  // Takes memory for the activations of the tokens that are read together.
  plan.hidden = layout.Take(state_bytes);
  plan.normed = layout.Take(state_bytes);
  const int64_t chunks = config.is_gated ? 2 : 1;
  // The last token's state has room there, too, or those of all tokens.
  const int64_t state_floats =
      config.hidden * (config.is_bidirectional ? choice.chunk_tokens : 1);
  plan.work = layout.Take(
      std::max(state_floats, std::max(config.query_features(),
                                      chunks * choice.chunk_features) *
                                 choice.chunk_tokens) *
      float_bytes);
  if (config.has_norms_after) {
    plan.branch =
        config.has_norms_before ? layout.Take(state_bytes) : plan.normed;
  }
  plan.angles = layout.Take(plan.angle_floats() *
                            PanelCount(plan.chunk_tokens) * float_bytes);
  plan.vectors = layout.Take(VectorsBytes(config));
  if (!config.is_bidirectional) {
    plan.logits = layout.Take(sequences * config.vocabulary * float_bytes);
  }
  TakeWorkersBuffers(tile_bytes, &layout, &plan);
  // The number of tiles depends on the sizes above.
  if (choice.depth > 1) {
    const int64_t tiles = request.count_tiles(plan);
    if (tiles < choice.depth) return Lay(request, WithDepth(choice, tiles));
    plan.schedule =
        layout.TakeParts(workers, tiles * static_cast<int64_t>(sizeof(Tile)));
  }
  plan.peak_bytes = layout.peak_bytes();
  return plan;
}

// A token of each sequence, or all tokens if they see each other; a block of
// rows of a few columns, or one row of the output's matrix.
Choice Smallest(const DecoderPlanRequest& request) {
  const DecoderConfig& config = request.config;
  Choice choice;
  choice.chunk_tokens =
      Padded(config.is_bidirectional ? request.positions : request.sequences);
  choice.chunk_features = std::min(kSumBlock, config.intermediate);
  choice.tile_bytes = request.needs.BytesOf(
      std::max(kSumBlock * kPanelTokens, LongestRow(config)));
  return choice;
}

// The choice with all intermediate features at a time, where a chunk of them
// would read more than its columns of the file.
Choice WithWholeRows(const DecoderPlanRequest& request, Choice choice) {
  const DecoderConfig& config = request.config;
  if (!request.needs.reads_around_blocks || config.is_transposed) return choice;
  choice.chunk_features = config.intermediate;
  choice.tile_bytes =
      std::max(choice.tile_bytes, request.needs.BytesOf(config.intermediate));
  // With many tokens at a time this takes so much that tiles have grown before.
  if (config.is_bidirectional) {
    choice.tile_bytes = std::max(choice.tile_bytes, kLargestTileBytes);
  }
  return choice;
}

// Prompts of several sequences are long together. Reading them in chunks of c
// tokens takes a pass for each chunk, while the memory of a chunk could hold
// weights that each later step then need not read. If kGenerated tokens are
// generated for each that is read, both together are least where c is the root
// below.
int64_t MostChunkTokens(const DecoderPlanRequest& request,
                        const Choice& choice) {
  constexpr double kGenerated = 4;
  const StreamingNeeds& needs = request.needs;
  if (request.sequences == 1 || !needs.uses_slots) return kLargestChunkTokens;
  const DecoderConfig& config = request.config;
  const int64_t widest =
      std::max(config.query_features(),
               (config.is_gated ? 2 : 1) * choice.chunk_features);
  const double token_bytes =
      static_cast<double>(3 * config.hidden + 2 * config.key_value_features() +
                          widest) *
      sizeof(float);
  double pass_bytes = 0;
  for (int64_t i = 0; i < needs.whole_tensors; ++i) {
    pass_bytes += static_cast<double>(needs.pinnable_bytes[i]);
  }
  const double tokens = std::sqrt(static_cast<double>(request.sequences) *
                                  pass_bytes / (kGenerated * token_bytes));
  return std::min(kLargestChunkTokens,
                  static_cast<int64_t>(tokens) / kPanelTokens * kPanelTokens);
}

// The next larger choice; the same if there is none. Tokens save the most: each
// pass reads every weight.
Choice Grow(const DecoderPlanRequest& request, const Choice& choice) {
  const int64_t most_tokens =
      std::min(MostChunkTokens(request, choice),
               request.sequences * Padded(request.positions));
  // A row of a chunk's features is a tile, unless it lies transposed.
  const int64_t tile_features =
      request.config.is_transposed
          ? request.config.intermediate
          : request.needs.ElementsIn(choice.tile_bytes) / kSumBlock * kSumBlock;
  const int64_t most_features = std::min(
      std::min(request.config.intermediate, tile_features),
      std::max(kSumBlock,
               kLargestChunkBytes /
                   (choice.chunk_tokens * static_cast<int64_t>(sizeof(float))) /
                   kSumBlock * kSumBlock));
  Choice next = choice;
  // 64 KiB of tile go with 32 tokens and a block of features.
  const int64_t tile_share = choice.tile_bytes / (64 << 10);
  const int64_t token_share = choice.chunk_tokens / 32;
  const int64_t feature_share = choice.chunk_features / kSumBlock;
  if (ReadsFurtherAhead(request.needs, choice.depth, choice.tile_bytes)) {
    // The first needs a ring beside the slot.
    next.depth += choice.depth == 1 ? 2 : 1;
  } else if (choice.chunk_tokens < most_tokens &&
             (token_share <= tile_share ||
              choice.tile_bytes >= kLargestTileBytes)) {
    next.chunk_tokens =
        std::min(most_tokens, choice.chunk_tokens + kPanelTokens);
  } else if (choice.chunk_features < most_features &&
             (feature_share <= tile_share ||
              choice.tile_bytes >= kLargestTileBytes)) {
    next.chunk_features =
        std::min(most_features, choice.chunk_features + kSumBlock);
  } else if (choice.tile_bytes < kLargestTileBytes) {
    next.tile_bytes =
        std::min(kLargestTileBytes, choice.tile_bytes + choice.tile_bytes / 4);
  }
  return next;
}

absl::Status Check(const DecoderPlanRequest& request) {
  const int64_t most = request.config.is_bidirectional ? 1 : kMostSequences;
  if (request.sequences < 1 || request.sequences > most) {
    return absl::InvalidArgumentError(absl::StrCat(
        request.sequences, " sequences; this model reads from 1 to ", most,
        " together"));
  }
  return CheckPlannedSize(request.positions, request.config.positions,
                          request.workers);
}

int64_t LeastBytes(const DecoderPlanRequest& request) {
  return Lay(request, Smallest(request)).peak_bytes;
}

// Returns the largest number below `refused` whose least plan is small enough.
int64_t MostBelow(DecoderPlanRequest request, int64_t refused,
                  int64_t budget_bytes) {
  int64_t most = 0;
  while (refused - most > 1) {
    request.sequences = (most + refused) / 2;
    (LeastBytes(request) <= budget_bytes ? most : refused) = request.sequences;
  }
  return most;
}

absl::Status TooSmall(const DecoderPlanRequest& request, int64_t budget_bytes) {
  const DecoderPlan least = Lay(request, Smallest(request));
  const bool is_one = request.sequences == 1;
  return absl::ResourceExhaustedError(absl::StrCat(
      "a budget of ", FormatBytes(budget_bytes), " is too small: ",
      is_one ? "" : absl::StrCat(request.sequences, " sequences of "),
      request.positions, " positions on ", request.workers,
      request.workers == 1 ? " thread" : " threads", " need at least ",
      FormatBytes(least.peak_bytes), ", of which keys and values take ",
      FormatBytes(least.cache.size_bytes),
      is_one ? ""
             : absl::StrCat("; this budget is enough for ",
                            MostBelow(request, request.sequences, budget_bytes),
                            " sequences")));
}

}  // namespace

int64_t DecoderPlan::angle_floats() const {
  const DecoderConfig& config = request.config;
  return 2 * kPanelTokens *
         (config.rotary.pairs() + config.sliding_rotary.pairs());
}

int64_t DecoderPlan::padded_positions() const {
  return Padded(request.positions);
}

absl::StatusOr<DecoderPlan> PlanDecoder(const DecoderPlanRequest& request,
                                        int64_t budget_bytes) {
  const absl::Status status = Check(request);
  if (!status.ok()) return status;
  const Choice whole_rows = WithWholeRows(request, Smallest(request));
  const bool has_room = Lay(request, whole_rows).peak_bytes <= budget_bytes;
  const Choice smallest = has_room ? whole_rows : Smallest(request);
  if (!has_room && LeastBytes(request) > budget_bytes) {
    return TooSmall(request, budget_bytes);
  }
  return GrowPlan(request, budget_bytes, smallest, Grow, Lay);
}

absl::StatusOr<int64_t> MinBudgetBytes(const DecoderPlanRequest& request) {
  const absl::Status status = Check(request);
  if (!status.ok()) return status;
  return LeastBytes(request);
}

absl::StatusOr<int64_t> MostSequences(const DecoderPlanRequest& request,
                                      int64_t budget_bytes) {
  DecoderPlanRequest one = request;
  one.sequences = 1;
  const absl::Status status = Check(one);
  if (!status.ok()) return status;
  const int64_t most = request.config.is_bidirectional ? 1 : kMostSequences;
  return MostBelow(request, most + 1, budget_bytes);
}

}  // namespace footprint
