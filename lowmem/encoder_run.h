// The forward pass behind EncoderRun; see encoder.h.

#ifndef FOOTPRINT_LOWMEM_ENCODER_RUN_H_
#define FOOTPRINT_LOWMEM_ENCODER_RUN_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "footprint/lowmem/encoder_config.h"
#include "footprint/lowmem/encoder_plan.h"
#include "footprint/lowmem/encoder_weights.h"
#include "footprint/lowmem/weight_store.h"

namespace footprint {

class EncoderRun {
 public:
  virtual ~EncoderRun() = default;

  // From 1 to as many tokens as planned; `token_types` has one for each token,
  // or is empty for all zero.
  virtual absl::StatusOr<absl::Span<const float>> Forward(
      absl::Span<const int32_t> ids, absl::Span<const int32_t> token_types) = 0;

  // Of the last Forward: the embeddings, then each layer.
  virtual absl::Span<const int64_t> step_nanoseconds() const = 0;

  // How tiles are read: "when used", or how they are read ahead.
  virtual std::string ReadingDescription() const = 0;

  // The arena's pages that are in memory, as the kernel counts them.
  virtual int64_t ResidentArenaBytes() const = 0;
};

namespace lowmem_internal {

// All but the plan must outlive the run.
absl::StatusOr<std::unique_ptr<EncoderRun>> StartEncoderRun(
    const EncoderConfig& config, const EncoderWeights& weights,
    WeightStore* store, const EncoderPlan& plan);

}  // namespace lowmem_internal
}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_ENCODER_RUN_H_
