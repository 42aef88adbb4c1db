// Plans the memory of a decoder before it runs.
//
//   absl::StatusOr<footprint::DecoderPlan> plan =
//       footprint::PlanDecoder({config, 128, 2}, 64 << 20);
//
// Everything is in one arena: every layer's keys and values for all planned
// positions of each sequence, the states of the tokens that are read together,
// one layer's small vectors, the logits, and for each worker the tile of
// weights in use. A prompt is read `chunk_tokens` at a time, so its length
// costs only its keys and values, and for each worker 64 bytes of scores a
// position. With a smaller budget, tiles and chunks become smaller. Below
// MinBudgetBytes only fewer positions or workers help. A bidirectional model
// reads all tokens together. It keeps the keys and values of one layer, and its
// states lie where its features were. Several sequences share everything but
// their keys, values and logits.
//
// Time grows if chunks and tiles get small; the results' bits do not change. A
// larger budget never gives a smaller tile or chunk, except where it begins to
// hold whole rows of a file without panels: reading parts of rows directly
// would fetch whole blocks of the disk around each. When tiles and chunks have
// their largest sizes, the rest of the budget keeps whole tensors in memory. At
// a budget of the model's size nothing is read twice, and no slot is planned.
//
// The error is ResourceExhausted if the budget is too small; the message says
// what is needed, and how many sequences would fit. The error is
// InvalidArgument if there is no position, more positions than the model has,
// no worker, more than kMostWorkers workers, no sequence, or more than
// kMostSequences, of which a bidirectional model takes one.
// Pure and thread-safe. Memory: none. Time: microseconds, or milliseconds if
// tiles are read ahead, since the tiles of each choice are then counted.

#ifndef FOOTPRINT_LOWMEM_MODELS_DECODER_PLAN_H_
#define FOOTPRINT_LOWMEM_MODELS_DECODER_PLAN_H_

#include <cstdint>
#include <functional>

#include "absl/status/statusor.h"
#include "footprint/base/simd/dense_product.h"
#include "footprint/lowmem/kernels/rounded_cache.h"
#include "footprint/lowmem/kernels/token_panel.h"
#include "footprint/lowmem/models/decoder_config.h"
#include "footprint/lowmem/streaming/arena_layout.h"
#include "footprint/lowmem/streaming/plan_growth.h"

namespace footprint {

namespace lowmem_internal {

// Returns the unit in which outputs are divided among workers: each worker's
// share begins at a multiple of it. Packed files have panels of the same width
// for transposed matrices.
inline int64_t OutputUnit(const DecoderConfig& config) {
  return config.is_transposed ? 64 : kPanelTokens;
}

}  // namespace lowmem_internal

// The number of rounded keys or values that are converted to floats at a time:
// sixteen features of a block of positions, or some positions of all features.
inline constexpr int64_t kWidenedFloats = 16 * kSumBlock;

// The most sequences that a run reads together.
inline constexpr int64_t kMostSequences = 256;

struct DecoderPlan;

struct DecoderPlanRequest {
  DecoderConfig config;
  // The positions of the prompt and of the generated tokens together, in the
  // longest sequence.
  int64_t positions = 0;
  int workers = 1;
  // The type in which keys and values are kept.
  CacheType cache_type = CacheType::kF32;
  // The sequences that are read together.
  int64_t sequences = 1;
  StreamingNeeds needs;
  // Returns the largest number of tiles in a worker's list (decoder_tiles.h):
  // those of the layers for many tokens and for a single token, and those of
  // the output. Called only if needs.reads_ahead is true.
  std::function<int64_t(const DecoderPlan&)> count_tiles;
};

struct DecoderPlan : ModelPlan {
  DecoderPlanRequest request;

  // The number of tokens that are read together, in whole panels.
  int64_t chunk_tokens = 0;

  // For each sequence the keys of each layer, then its values, head by head:
  // see rounded_cache.h.
  ArenaRange cache;
  // The keys and values of the tokens that are being read, as floats; only if
  // the cache is rounded, or if they are of several sequences.
  ArenaRange fresh;
  ArenaRange normed;
  // Queries and their context, or a chunk of intermediate features and its
  // gate.
  ArenaRange work;
  // The output of attention or of the feed-forward part, if it is normalised
  // before it is added. Without norms before the parts, it lies where the
  // normalised states are after the last layer.
  ArenaRange branch;
  // Cosines and sines of the tokens' angles: see angle_floats.
  ArenaRange angles;
  ArenaRange logits;  // of each sequence
  // The following ranges hold equal parts for all workers.
  ArenaRange scores;
  ArenaRange sums;     // the output as one vector, for a single token
  ArenaRange widened;  // some rounded keys or values, as floats
  // A panel with one query, or its context; only for several sequences.
  ArenaRange lone;

  // Returns the number of floats in one panel's angles: cosines, then sines,
  // and then those of sliding layers if they differ.
  int64_t angle_floats() const;

  // Returns the positions rounded up to whole panels.
  int64_t padded_positions() const;

  // Returns the bytes of one sequence's keys and values.
  int64_t sequence_bytes() const {
    return cache.size_bytes / request.sequences;
  }

  // Returns whether tokens of several sequences, one of each, are multiplied
  // by the layers' matrices as panels. A transposed matrix gives the same bits
  // to a panel as to a vector.
  bool joins_single_tokens() const {
    return request.config.is_transposed && request.sequences > 1;
  }

  // Returns the number of slots of a worker: the ring, and with reading ahead
  // one more for tiles that do not go through it.
  int slots_of_worker() const { return depth == 1 ? 1 : depth + 1; }

  // Returns the bytes of one worker's part of `range`.
  int64_t part_bytes(const ArenaRange& range) const {
    return range.size_bytes / request.workers;
  }
};

absl::StatusOr<DecoderPlan> PlanDecoder(const DecoderPlanRequest& request,
                                        int64_t budget_bytes);

// Returns the smallest budget that PlanDecoder accepts.
absl::StatusOr<int64_t> MinBudgetBytes(const DecoderPlanRequest& request);

// Returns the most sequences with which PlanDecoder accepts the budget; 0 if it
// accepts none. It takes no notice of the request's own number.
absl::StatusOr<int64_t> MostSequences(const DecoderPlanRequest& request,
                                      int64_t budget_bytes);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_MODELS_DECODER_PLAN_H_
