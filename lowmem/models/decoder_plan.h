// The memory of a decoder, decided before it runs.
//
//   absl::StatusOr<footprint::DecoderPlan> plan =
//       footprint::PlanDecoder({config, 128, 2}, 64 << 20);
//
// Everything lies in one arena: every layer's keys and values for as many
// positions as planned, the states of the tokens that are read together, one
// layer's small vectors, the output's numbers, and for each worker the tile of
// weights it works on. A prompt is read `chunk_tokens` at a time, so its length
// costs nothing but its keys and values. Weights and chunks shrink first: below
// MinBudgetBytes only fewer positions or workers help.
//
// Time grows where chunks and tiles get small; the results' bits do not change.
// A larger budget never gives a smaller tile or chunk.
// Bytes that are left when they are as large as they may be keep whole tensors
// in memory: at a budget of the model's size nothing is read twice, and no slot
// is planned to read it into.
//
// ResourceExhausted: the budget is too small; the text says what is needed.
// InvalidArgument: no position, more than the model has, no worker or more than
// kMostWorkers.
// Pure and thread-safe. Memory: none. Time: microseconds; where tiles are read
// ahead milliseconds, since they are counted for each choice.

#ifndef FOOTPRINT_LOWMEM_MODELS_DECODER_PLAN_H_
#define FOOTPRINT_LOWMEM_MODELS_DECODER_PLAN_H_

#include <cstdint>
#include <functional>

#include "absl/status/statusor.h"
#include "footprint/lowmem/kernels/token_panel.h"
#include "footprint/lowmem/models/decoder_config.h"
#include "footprint/lowmem/streaming/arena_layout.h"
#include "footprint/lowmem/streaming/plan_growth.h"

namespace footprint {

namespace lowmem_internal {

// Returns the runs in which outputs are dealt to workers: of matrices that lie
// transposed packed files hold panels of as many.
inline int64_t OutputUnit(const DecoderConfig& config) {
  return config.is_transposed ? 64 : kPanelTokens;
}

}  // namespace lowmem_internal

struct DecoderPlan;

struct DecoderPlanRequest {
  DecoderConfig config;
  // The positions of the prompt and of what is generated, together.
  int64_t positions = 0;
  int workers = 1;
  StreamingNeeds needs;
  // How many tiles the worker that has the most reads, of one part of many
  // tokens, one of a single token and the output. Not asked unless
  // needs.reads_ahead.
  std::function<int64_t(const DecoderPlan&)> count_tiles;
};

struct DecoderPlan : ModelPlan {
  DecoderPlanRequest request;

  // Tokens that are read together: whole panels.
  int64_t chunk_tokens = 0;

  // The keys of each layer, then its values: [feature][position].
  ArenaRange cache;
  ArenaRange normed;
  // Queries and their context, or a chunk of intermediate features and what it
  // is multiplied by.
  ArenaRange work;
  // The output of attention or of the feed-forward part, where it is normalised
  // before it is added.
  ArenaRange branch;
  // Cosines and sines of the tokens' angles: see angle_floats.
  ArenaRange angles;
  ArenaRange logits;
  // Each for all workers, in equal parts.
  ArenaRange scores;
  ArenaRange sums;  // the output as one vector, for a single token

  // Returns the floats of one panel's angles: cosines, then sines; those of
  // sliding layers follow, where they have their own.
  int64_t angle_floats() const;

  // Positions rounded up to whole panels.
  int64_t padded_positions() const;

  // The ring, and if it reads ahead one more slot for tiles that do not go
  // through it.
  int slots_of_worker() const { return depth == 1 ? 1 : depth + 1; }

  // Returns the bytes of one worker's part of `range`.
  int64_t part_bytes(const ArenaRange& range) const {
    return range.size_bytes / request.workers;
  }
};

absl::StatusOr<DecoderPlan> PlanDecoder(const DecoderPlanRequest& request,
                                        int64_t budget_bytes);

// The smallest budget that PlanDecoder accepts.
absl::StatusOr<int64_t> MinBudgetBytes(const DecoderPlanRequest& request);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_MODELS_DECODER_PLAN_H_
