// Plans the memory of a forward pass before it runs.
//
//   absl::StatusOr<footprint::EncoderPlan> plan =
//       footprint::PlanEncoder({config, 512, 2}, 6 << 20);
//
// Everything is in one arena: the hidden states, the sums that are added to
// them (which also hold the context of attention, and at the end the output),
// one layer's small vectors, and for each worker the tile of weights in use, or
// the tiles that it reads ahead and their list, and buffers in which it widens
// weights and converts its input; then the weights that stay. Several sequences
// go through the model one after the other and need more memory only for their
// outputs.
// Attention's buffers and the feed-forward part's are never live at once and
// share memory. Weights, not activations, shrink first: below MinBudgetBytes
// only fewer tokens, sequences or workers help.
//
// Time grows if tiles get small (more reads, less reuse); the results' bits do
// not change. A larger budget never gives a smaller tile. When tiles and chunks
// have their largest sizes, the rest of the budget keeps whole tensors, and a
// part of one more, in memory. If the budget holds all tensors beside the
// activations, nothing is read twice, and no slot is planned.
//
// The error is ResourceExhausted if the budget is too small (the message says
// what is needed), or if rows of more than 2^24 features, or 2^40 features of
// all tokens, are to be planned. The error is InvalidArgument if there are no
// tokens, more tokens than positions, no worker, more than kMostWorkers
// workers, no sequence, or more than 2^20 sequences. Pure and thread-safe.
// Memory: that of a few plans. Time: microseconds, or milliseconds if tiles are
// read ahead, since the tiles of each choice are then counted.

#ifndef FOOTPRINT_LOWMEM_MODELS_ENCODER_PLAN_H_
#define FOOTPRINT_LOWMEM_MODELS_ENCODER_PLAN_H_

#include <cstdint>
#include <functional>

#include "absl/status/statusor.h"
#include "footprint/lowmem/models/encoder_config.h"
#include "footprint/lowmem/streaming/arena_layout.h"
#include "footprint/lowmem/streaming/plan_growth.h"

namespace footprint {

struct EncoderPlan;

struct EncoderPlanRequest {
  EncoderConfig config;
  int64_t tokens = 0;  // of the longest sequence
  int workers = 1;
  StreamingNeeds needs;
  int64_t sequences = 1;  // in one call
  // Returns the largest number of tiles that a worker reads in a pass with the
  // plan, which must not depend on its depth. Called only if needs.reads_ahead
  // is true, and before the ranges after the slots are laid out.
  std::function<int64_t(const EncoderPlan&)> count_tiles;
};

struct EncoderPlan : ModelPlan {
  EncoderPlanRequest request;

  ArenaRange sums;
  // The buffers of attention, or of the feed-forward part.
  ArenaRange work;
  // The outputs of all sequences. A single one's output is in `sums`.
  ArenaRange output;

  int64_t panels() const;
  // Returns the tokens rounded up to whole panels.
  int64_t padded_tokens() const;

  // Returns the bytes of one worker's part of `range`.
  int64_t part_bytes(const ArenaRange& range) const {
    return range.size_bytes / request.workers;
  }
};

absl::StatusOr<EncoderPlan> PlanEncoder(const EncoderPlanRequest& request,
                                        int64_t budget_bytes);

// Returns the smallest budget that PlanEncoder accepts.
absl::StatusOr<int64_t> MinBudgetBytes(const EncoderPlanRequest& request);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_MODELS_ENCODER_PLAN_H_
