#include "footprint/lowmem/models/decoder_run.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "footprint/lowmem/kernels/token_panel.h"
#include "footprint/lowmem/models/decoder_pass.h"
#include "footprint/lowmem/models/planned_run.h"
#include "footprint/lowmem/streaming/model_run.h"

namespace footprint {
namespace lowmem_internal {
namespace {

class Run
    : public PlannedRun<DecoderRun, DecoderConfig, DecoderPlan, DecoderPass> {
 public:
  using PlannedRun::PlannedRun;

  absl::StatusOr<absl::Span<const float>> Append(
      absl::Span<const int32_t> ids) override;
  absl::Span<const float> logits() const override { return pass_.logits(); }
  void Clear() override { tokens_ = 0; }
  int64_t tokens() const override { return tokens_; }

 private:
  absl::Status CheckInput(absl::Span<const int32_t> ids) const;
  int64_t NextPartTokens(int64_t position, int64_t left) const;

  int64_t tokens_ = 0;
};

absl::Status Run::CheckInput(absl::Span<const int32_t> ids) const {
  const absl::Status status = CheckIds(ids, config_.vocabulary);
  if (!status.ok()) return status;
  const int64_t tokens = static_cast<int64_t>(ids.size());
  if (tokens_ + tokens > plan_.request.positions) {
    return absl::InvalidArgumentError(absl::StrCat(
        tokens, " tokens after ", tokens_, " that were read, but the plan is ",
        "for ", plan_.request.positions));
  }
  return absl::OkStatus();
}

// Whole panels begin where panels of the cache do; others are read by
// themselves.
int64_t Run::NextPartTokens(int64_t position, int64_t left) const {
  if (position % kPanelTokens != 0) return 1;
  return std::min(left, plan_.chunk_tokens);
}

absl::StatusOr<absl::Span<const float>> Run::Append(
    absl::Span<const int32_t> ids) {
  absl::Status status = CheckInput(ids);
  if (!status.ok()) return status;
  pass_.step_times().Clear();
  const int64_t tokens = static_cast<int64_t>(ids.size());
  for (int64_t begin = 0; begin < tokens;) {
    const int64_t count = NextPartTokens(tokens_ + begin, tokens - begin);
    DecoderPart part;
    part.ids = ids.subspan(begin, count);
    part.position = tokens_ + begin;
    begin += count;
    part.is_last = begin == tokens;
    part.is_single =
        count == 1 && (tokens == 1 || part.position % kPanelTokens != 0);
    status = pass_.Read(part);
    if (!status.ok()) return PassFault(*store_, status);
  }
  // Weights that were used where they lie may have changed in the meantime.
  status = store_->CheckFile();
  if (!status.ok()) return status;
  tokens_ += tokens;
  return logits();
}

}  // namespace

absl::StatusOr<std::unique_ptr<DecoderRun>> StartDecoderRun(
    const DecoderConfig& config, const DecoderWeights& weights,
    WeightStore* store, const DecoderPlan& plan) {
  return StartRun<Run>(config, weights, store, plan);
}

}  // namespace lowmem_internal
}  // namespace footprint
