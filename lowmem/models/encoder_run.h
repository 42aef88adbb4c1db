// A run of an encoder, and its implementation; see encoder.h.
//
//   absl::StatusOr<std::unique_ptr<EncoderRun>> run =
//       lowmem_internal::StartEncoderRun(config, weights, store.get(), plan);
//
// A run is used by one thread at a time and has its own workers. The numbers
// that it returns are in its arena, and the next Forward overwrites them.
// Memory: the arena, which has the plan's size, and the workers' stacks;
// Forward allocates nothing.

#ifndef FOOTPRINT_LOWMEM_MODELS_ENCODER_RUN_H_
#define FOOTPRINT_LOWMEM_MODELS_ENCODER_RUN_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "footprint/lowmem/models/encoder_config.h"
#include "footprint/lowmem/models/encoder_plan.h"
#include "footprint/lowmem/models/encoder_weights.h"
#include "footprint/lowmem/weights/weight_store.h"

namespace footprint {

// A sequence. `token_types` has one for each token, or is empty if all are
// zero.
struct EncoderSequence {
  absl::Span<const int32_t> ids;
  absl::Span<const int32_t> token_types;
};

class EncoderRun {
 public:
  virtual ~EncoderRun() = default;

  // Runs at least one and at most as many tokens as planned, and returns their
  // states: tokens * hidden numbers. `token_types` has one for each token, or
  // is empty if all are zero.
  virtual absl::StatusOr<absl::Span<const float>> Forward(
      absl::Span<const int32_t> ids, absl::Span<const int32_t> token_types) = 0;

  // Runs several sequences one after the other. Returns the states of the first
  // sequence's tokens, then of the second's, with nothing between. Each has the
  // bits that Forward gives it in a plan for as many tokens (see encoder.h
  // about plans for a single one). Lengths may differ: there is neither padding
  // nor a mask. Leave out the padding at a sequence's end; the other states are
  // then as if a mask hid it. (Padding before other tokens moves their
  // positions and must not be left out.) All sequences are checked before the
  // first is run; an error names the sequence.
  virtual absl::StatusOr<absl::Span<const float>> ForwardBatch(
      absl::Span<const EncoderSequence> sequences) = 0;

  // Returns the times of the last Forward's steps: the embeddings, then each
  // layer; ForwardBatch counts all sequences together.
  virtual absl::Span<const int64_t> step_nanoseconds() const = 0;

  // Describes how tiles are read: "when used", or how they are read ahead.
  virtual std::string ReadingDescription() const = 0;

  // Returns the arena's pages that are in memory, as the kernel counts them, in
  // bytes.
  virtual int64_t ResidentArenaBytes() const = 0;
};

namespace lowmem_internal {

// All arguments but the plan must outlive the run.
absl::StatusOr<std::unique_ptr<EncoderRun>> StartEncoderRun(
    const EncoderConfig& config, const EncoderWeights& weights,
    WeightStore* store, const EncoderPlan& plan);

}  // namespace lowmem_internal
}  // namespace footprint

// Tested by encoder_test and encoder_golden_test.

#endif  // FOOTPRINT_LOWMEM_MODELS_ENCODER_RUN_H_
