#include "footprint/lowmem/models/encoder_run.h"

#include "absl/strings/str_cat.h"
#include "footprint/lowmem/models/encoder_pass.h"
#include "footprint/lowmem/models/planned_run.h"
#include "footprint/lowmem/streaming/model_run.h"

namespace footprint {
namespace lowmem_internal {
namespace {

class Run
    : public PlannedRun<EncoderRun, EncoderConfig, EncoderPlan, EncoderPass> {
 public:
  using PlannedRun::PlannedRun;

  absl::StatusOr<absl::Span<const float>> Forward(
      absl::Span<const int32_t> ids,
      absl::Span<const int32_t> token_types) override {
    const absl::Status status = CheckInput(ids, token_types);
    if (!status.ok()) return status;
    const EncoderSequence sequence = {ids, token_types};
    return Compute(absl::MakeConstSpan(&sequence, 1));
  }
  absl::StatusOr<absl::Span<const float>> ForwardBatch(
      absl::Span<const EncoderSequence> sequences) override;

 private:
  absl::Status CheckInput(absl::Span<const int32_t> ids,
                          absl::Span<const int32_t> token_types) const;
  absl::StatusOr<absl::Span<const float>> Compute(
      absl::Span<const EncoderSequence> sequences);
};

absl::Status Run::CheckInput(absl::Span<const int32_t> ids,
                             absl::Span<const int32_t> token_types) const {
  const absl::Status status = CheckIds(ids, config_.vocabulary);
  if (!status.ok()) return status;
  const int64_t tokens = static_cast<int64_t>(ids.size());
  if (tokens > plan_.request.tokens) {
    return absl::InvalidArgumentError(absl::StrCat(
        tokens, " tokens, but the plan is for ", plan_.request.tokens));
  }
  if (token_types.empty()) return absl::OkStatus();
  if (token_types.size() != ids.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        token_types.size(), " token types for ", tokens, " tokens"));
  }
  for (const int32_t type : token_types) {
    if (type < 0 || type >= config_.token_types) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the token type ", type, "; the model has ", config_.token_types));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<absl::Span<const float>> Run::ForwardBatch(
    absl::Span<const EncoderSequence> sequences) {
  if (sequences.empty()) {
    return absl::InvalidArgumentError("no sequence: the batch is empty");
  }
  const int64_t count = static_cast<int64_t>(sequences.size());
  if (count > plan_.request.sequences) {
    return absl::InvalidArgumentError(absl::StrCat(
        count, " sequences, but the plan is for ", plan_.request.sequences));
  }
  for (int64_t i = 0; i < count; ++i) {
    const absl::Status status =
        CheckInput(sequences[i].ids, sequences[i].token_types);
    if (status.ok()) continue;
    return absl::Status(status.code(),
                        absl::StrCat("sequence ", i, ": ", status.message()));
  }
  return Compute(sequences);
}

absl::StatusOr<absl::Span<const float>> Run::Compute(
    absl::Span<const EncoderSequence> sequences) {
  pass_.step_times().Clear();
  float* const output = arena_.At<float>(plan_.output.offset_bytes);
  int64_t written = 0;
  for (const EncoderSequence& sequence : sequences) {
    const absl::Status status =
        pass_.Compute(sequence.ids, sequence.token_types, output + written);
    if (!status.ok()) return PassFault(*store_, status);
    written += static_cast<int64_t>(sequence.ids.size()) * config_.hidden;
  }
  // Weights that were used in place may have changed in the meantime.
  const absl::Status status = store_->CheckFile();
  if (!status.ok()) return status;
  return absl::MakeConstSpan(output, written);
}

}  // namespace

absl::StatusOr<std::unique_ptr<EncoderRun>> StartEncoderRun(
    const EncoderConfig& config, const EncoderWeights& weights,
    WeightStore* store, const EncoderPlan& plan) {
  return StartRun<Run>(config, weights, store, plan);
}

}  // namespace lowmem_internal
}  // namespace footprint
