// The memory of a forward pass, decided before it runs.
//
//   absl::StatusOr<footprint::EncoderPlan> plan =
//       footprint::PlanEncoder({config, 512, 2}, 6 << 20);
//
// Everything lies in one arena: the hidden states, the sums that are added to
// them (and that hold the context of attention, and at the end the output), one
// layer's small vectors, and for each worker the tile of weights it works on,
// or those it reads ahead and the list of them.
// Several sequences go through the model one after the other: all they need
// besides is room for their outputs.
// Attention's buffers and the feed-forward part's never live at once and share
// their place. Weights, not activations, shrink first: below MinBudgetBytes
// only fewer tokens or workers help.
//
// Time grows where tiles get small (more reads, less reuse); the results' bits
// do not change. A larger budget never gives a smaller tile.
// Bytes that are left when they are as large as they may be keep whole tensors
// in memory: at a budget of the model's size nothing is read twice, and no slot
// is planned to read it into.
//
// ResourceExhausted: the budget is too small; the text says what is needed.
// InvalidArgument: no tokens, more tokens than positions, no worker, more than
// kMostWorkers, or no sequence.
// Pure and thread-safe. Memory: none. Time: microseconds; where tiles are read
// ahead milliseconds, since they are counted for each choice.

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
  // How many tiles the worker that has the most reads in a pass with such a
  // plan. Not asked unless needs.reads_ahead.
  std::function<int64_t(const EncoderPlan&)> count_tiles;
};

struct EncoderPlan : ModelPlan {
  EncoderPlanRequest request;

  ArenaRange sums;
  // Attention's or the feed-forward part's.
  ArenaRange work;
  // The outputs of all sequences; a single one's lie in `sums`.
  ArenaRange output;

  int64_t panels() const;
  // Rounded up to whole panels.
  int64_t padded_tokens() const;

  // Returns the bytes of one worker's part of `range`.
  int64_t part_bytes(const ArenaRange& range) const {
    return range.size_bytes / request.workers;
  }
};

absl::StatusOr<EncoderPlan> PlanEncoder(const EncoderPlanRequest& request,
                                        int64_t budget_bytes);

// The smallest budget that PlanEncoder accepts.
absl::StatusOr<int64_t> MinBudgetBytes(const EncoderPlanRequest& request);

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_MODELS_ENCODER_PLAN_H_
