#include "footprint/lowmem/models/encoder_plan.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/base/memory/alignment.h"
#include "footprint/base/simd/dense_product.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/lowmem/kernels/int8_product.h"
#include "footprint/lowmem/kernels/token_panel.h"
#include "footprint/lowmem/weights/tile.h"

namespace footprint {
namespace {

// Beyond this a tile leaves the second-level cache before it is used up.
constexpr int64_t kLargestTileBytes = 256 << 10;
// Beyond this a chunk leaves the caches, and fewer chunks gain little.
constexpr int64_t kLargestChunkBytes = 1 << 20;
// The limits with which sizes stay within 63 bits: those of a batch, of a row
// and of the rows of a sequence.
constexpr int64_t kMostSequences = 1 << 20;
constexpr int64_t kMostHidden = 1 << 24;
constexpr int64_t kMostHiddenOfTokens = int64_t{1} << 40;

// Sizes that may be chosen.
struct Choice {
  int64_t tile_bytes = 0;
  int64_t chunk_features = 0;
  int depth = 1;
};

bool operator==(const Choice& a, const Choice& b) {
  return a.tile_bytes == b.tile_bytes && a.chunk_features == b.chunk_features &&
         a.depth == b.depth;
}

// One head's keys and values, and the scores of one panel of queries.
int64_t AttentionBytes(const EncoderPlan& plan) {
  const int64_t tokens = plan.padded_tokens();
  const int64_t floats =
      2 * plan.request.config.head_features() * tokens + tokens * kPanelTokens;
  return plan.request.workers * floats * sizeof(float);
}

int64_t VectorsBytes(const EncoderConfig& config) {
  return (9 * config.hidden + config.intermediate +
          config.distances * config.heads) *
         sizeof(float);
}

int64_t OutputBytes(const EncoderPlanRequest& request) {
  return request.sequences * request.tokens * request.config.hidden *
         static_cast<int64_t>(sizeof(float));
}

// Returns the bytes of the largest tile that there is: no slot needs more.
int64_t LargestTileBytes(const EncoderPlanRequest& request,
                         const Choice& choice) {
  const EncoderConfig& config = request.config;
  const int64_t hidden_share =
      LargestShare(config.hidden, kPanelTokens, request.workers);
  const int64_t chunk_share =
      LargestShare(choice.chunk_features, kPanelTokens, request.workers);
  const int64_t elements = std::max(
      {config.head_features() * config.hidden, hidden_share * config.hidden,
       chunk_share * config.hidden, hidden_share * choice.chunk_features});
  return std::min(choice.tile_bytes, request.needs.BytesOf(elements));
}

EncoderPlan Lay(const EncoderPlanRequest& request, const Choice& choice) {
  EncoderPlan plan;
  plan.request = request;
  plan.tile_bytes = choice.tile_bytes;
  plan.chunk_features = choice.chunk_features;
  plan.depth = choice.depth;
  const EncoderConfig& config = request.config;
  const int64_t workers = request.workers;
  const int64_t float_bytes = sizeof(float);
  const int64_t tokens = plan.padded_tokens();
  ArenaLayout layout;
  // Takes memory for tiles. Slots begin at pages, so they come first, where no
  // bytes are lost before them.
  const int64_t tile_bytes = LargestTileBytes(request, choice);
  plan.slots =
      TakeSlots(workers * choice.depth, tile_bytes, request.needs, &layout);
  if (choice.depth > 1) {
    const int64_t tiles = request.count_tiles(plan);
    if (tiles < choice.depth) return Lay(request, WithDepth(choice, tiles));
    plan.schedule =
        layout.TakeParts(workers, tiles * static_cast<int64_t>(sizeof(Tile)));
  }
  // Takes memory for the activations of all tokens.
  plan.hidden = layout.Take(config.hidden * tokens * float_bytes);
  plan.sums = layout.Take(config.hidden * tokens * float_bytes);
  plan.work = layout.Take(std::max(
      AttentionBytes(plan), choice.chunk_features * tokens * float_bytes));
  plan.vectors = layout.Take(VectorsBytes(config));
  // Takes the workers' buffers.
  const int64_t longest = std::max(config.hidden, choice.chunk_features);
  if (request.tokens > 1) {
    plan.wide = layout.TakeParts(workers,
                                 WideBytes(request.needs, tile_bytes, longest));
  } else {
    plan.dense = layout.TakeParts(workers, longest * float_bytes);
  }
  if (request.needs.rounds_inputs) {
    plan.rounded =
        layout.TakeParts(workers, Int8Bytes(longest, request.tokens));
  }
  plan.output =
      request.sequences == 1 ? plan.sums : layout.Take(OutputBytes(request));
  plan.peak_bytes = layout.peak_bytes();
  return plan;
}

// One row of the widest matrix, a block of columns of the others.
Choice Smallest(const EncoderPlanRequest& request) {
  const EncoderConfig& config = request.config;
  Choice choice;
  choice.chunk_features = std::min(kSumBlock, config.intermediate);
  choice.tile_bytes =
      request.needs.BytesOf(std::max(config.hidden, choice.chunk_features));
  return choice;
}

absl::Status Check(const EncoderPlanRequest& request) {
  if (request.sequences < 1 || request.sequences > kMostSequences) {
    return absl::InvalidArgumentError(
        absl::StrCat(request.sequences, " sequences; a batch has from 1 to ",
                     kMostSequences));
  }
  const absl::Status status = CheckPlannedSize(
      request.tokens, request.config.positions, request.workers);
  if (!status.ok()) return status;
  const int64_t hidden = request.config.hidden;
  if (hidden > kMostHidden || request.tokens > kMostHiddenOfTokens / hidden) {
    return absl::ResourceExhaustedError(
        absl::StrCat(request.tokens, " tokens of ", hidden,
                     " features need more memory than any machine has"));
  }
  return absl::OkStatus();
}

// The next larger choice; the same if there is none. Tiles and chunks grow in
// turn.
Choice Grow(const EncoderPlanRequest& request, const Choice& choice) {
  const int64_t token_bytes = PanelCount(request.tokens) * kPanelTokens *
                              static_cast<int64_t>(sizeof(float));
  const int64_t largest_chunk =
      std::min(request.config.intermediate,
               std::max(kSumBlock, kLargestChunkBytes / token_bytes /
                                       kSumBlock * kSumBlock));
  const bool chunk_can_grow = choice.chunk_features < largest_chunk;
  // 128 KiB of tile for each block of columns of a chunk.
  const bool tile_is_ahead =
      choice.tile_bytes >= (128 << 10) * (choice.chunk_features / kSumBlock);
  Choice next = choice;
  if (ReadsFurtherAhead(request.needs, choice.depth, choice.tile_bytes)) {
    ++next.depth;
    return next;
  }
  if (chunk_can_grow &&
      (tile_is_ahead || choice.tile_bytes >= kLargestTileBytes)) {
    next.chunk_features =
        std::min(largest_chunk, choice.chunk_features + kSumBlock);
    // A tile holds at least one row of a chunk.
    next.tile_bytes =
        std::max(next.tile_bytes, request.needs.BytesOf(next.chunk_features));
  } else if (choice.tile_bytes < kLargestTileBytes) {
    next.tile_bytes = std::min(
        kLargestTileBytes, std::max(choice.tile_bytes + choice.tile_bytes / 4,
                                    AlignUp(choice.tile_bytes, kPageBytes)));
  }
  return next;
}

}  // namespace

int64_t EncoderPlan::panels() const { return PanelCount(request.tokens); }

int64_t EncoderPlan::padded_tokens() const { return panels() * kPanelTokens; }

absl::StatusOr<EncoderPlan> PlanEncoder(const EncoderPlanRequest& request,
                                        int64_t budget_bytes) {
  const absl::Status status = Check(request);
  if (!status.ok()) return status;
  const Choice smallest = Smallest(request);
  const EncoderPlan least = Lay(request, smallest);
  if (least.peak_bytes > budget_bytes) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "a budget of ", FormatBytes(budget_bytes),
        " is too small: ", request.tokens, " tokens on ", request.workers,
        request.workers == 1 ? " thread" : " threads", " need at least ",
        FormatBytes(least.peak_bytes),
        request.sequences == 1
            ? ""
            : absl::StrCat(", of which the output of ", request.sequences,
                           " sequences takes ",
                           FormatBytes(OutputBytes(request)))));
  }
  return GrowPlan(request, budget_bytes, smallest, Grow, Lay);
}

absl::StatusOr<int64_t> MinBudgetBytes(const EncoderPlanRequest& request) {
  const absl::Status status = Check(request);
  if (!status.ok()) return status;
  return Lay(request, Smallest(request)).peak_bytes;
}

}  // namespace footprint
