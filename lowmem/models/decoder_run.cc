#include "footprint/lowmem/models/decoder_run.h"

#include <algorithm>
#include <array>
#include <utility>

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
  template <class... Arguments>
  Run(const DecoderConfig& config, const DecoderWeights& weights,
      Arguments&&... arguments)
      : PlannedRun(config, weights, std::forward<Arguments>(arguments)...),
        has_output_(weights.output.exists()) {}

  absl::StatusOr<absl::Span<const float>> Append(
      absl::Span<const int32_t> ids) override;
  absl::StatusOr<absl::Span<const float>> AppendForState(
      absl::Span<const int32_t> ids) override;
  absl::Span<const float> logits() const override { return pass_.logits(); }
  void Clear() override { tokens_ = 0; }
  int64_t tokens() const override { return tokens_; }

 private:
  absl::Status CheckInput(absl::Span<const int32_t> ids) const;
  absl::Status ReadAll(absl::Span<const int32_t> ids, bool wants_state);
  // Returns the next part of the tokens `left`, which begin at `position`.
  DecoderPart NextPart(absl::Span<const int32_t> left, int64_t position,
                       bool is_only_one) const;
  // Keeps the ids of the last panel, if the tokens do not fill it.
  void Remember(absl::Span<const int32_t> ids);

  const bool has_output_;
  int64_t tokens_ = 0;
  // The ids of the cache's last panel, if it is not full.
  std::array<int32_t, kPanelTokens> last_ids_ = {};
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

// A single token is read as a vector. Several tokens are read in whole panels
// that begin at panels of the cache; if the position is within a panel, its
// earlier tokens are read again.
DecoderPart Run::NextPart(absl::Span<const int32_t> left, int64_t position,
                          bool is_only_one) const {
  DecoderPart part;
  part.is_single = is_only_one;
  const int64_t within = is_only_one ? 0 : position % kPanelTokens;
  part.again = absl::MakeConstSpan(last_ids_).first(within);
  part.position = position - within;
  part.ids = left.first(
      std::min(static_cast<int64_t>(left.size()), plan_.chunk_tokens - within));
  return part;
}

void Run::Remember(absl::Span<const int32_t> ids) {
  for (const int32_t id : ids) last_ids_[tokens_++ % kPanelTokens] = id;
}

absl::Status Run::ReadAll(absl::Span<const int32_t> ids, bool wants_state) {
  absl::Status status = CheckInput(ids);
  if (!status.ok()) return status;
  pass_.step_times().Clear();
  const size_t tokens = ids.size();
  for (size_t begin = 0; begin < tokens;) {
    DecoderPart part =
        NextPart(ids.subspan(begin), tokens_ + static_cast<int64_t>(begin),
                 /*is_only_one=*/tokens == 1);
    begin += part.ids.size();
    part.is_last = begin == tokens;
    part.wants_state = wants_state;
    status = pass_.Read(part);
    if (!status.ok()) return PassFault(*store_, status);
  }
  // Weights that were used in place may have changed in the meantime.
  status = store_->CheckFile();
  if (!status.ok()) return status;
  Remember(ids);
  return absl::OkStatus();
}

absl::StatusOr<absl::Span<const float>> Run::Append(
    absl::Span<const int32_t> ids) {
  if (!has_output_) {
    return absl::FailedPreconditionError(
        "the decoder was opened for states: it has no logits");
  }
  const absl::Status status = ReadAll(ids, /*wants_state=*/false);
  if (!status.ok()) return status;
  return logits();
}

absl::StatusOr<absl::Span<const float>> Run::AppendForState(
    absl::Span<const int32_t> ids) {
  const absl::Status status = ReadAll(ids, /*wants_state=*/true);
  if (!status.ok()) return status;
  return pass_.state();
}

}  // namespace

absl::StatusOr<std::unique_ptr<DecoderRun>> StartDecoderRun(
    const DecoderConfig& config, const DecoderWeights& weights,
    WeightStore* store, const DecoderPlan& plan) {
  return StartRun<Run>(config, weights, store, plan);
}

}  // namespace lowmem_internal
}  // namespace footprint
