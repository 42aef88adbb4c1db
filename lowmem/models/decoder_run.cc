#include "footprint/lowmem/models/decoder_run.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "footprint/lowmem/kernels/token_panel.h"
#include "footprint/lowmem/models/decoder_pass.h"
#include "footprint/lowmem/models/exponential_sum.h"
#include "footprint/lowmem/models/planned_run.h"
#include "footprint/lowmem/streaming/model_run.h"

namespace footprint {
namespace lowmem_internal {
namespace {

absl::Status NoOutput() {
  return absl::FailedPreconditionError(
      "the decoder was opened for states: it has no logits");
}

class Run
    : public PlannedRun<DecoderRun, DecoderConfig, DecoderPlan, DecoderPass> {
 public:
  template <class... Arguments>
  Run(const DecoderConfig& config, const DecoderWeights& weights,
      Arguments&&... arguments)
      : PlannedRun(config, weights, std::forward<Arguments>(arguments)...),
        has_output_(weights.output.exists()),
        output_is_whole_(has_output_ && weights.output.block_columns() ==
                                            weights.output.columns()) {}

  absl::StatusOr<absl::Span<const float>> Append(
      absl::Span<const int32_t> ids) override;
  absl::StatusOr<absl::Span<const float>> AppendForState(
      absl::Span<const int32_t> ids) override;
  absl::StatusOr<absl::Span<const float>> EncodeStates(
      absl::Span<const int32_t> ids) override;
  absl::Status AppendForScores(absl::Span<const int32_t> ids,
                               absl::Span<const int32_t> next,
                               absl::Span<double> scores) override;
  absl::Span<const float> logits() const override { return pass_.logits(); }
  void Clear() override { tokens_ = 0; }
  int64_t tokens() const override { return tokens_; }

 private:
  absl::Status CheckInput(absl::Span<const int32_t> ids) const;
  // The results that a caller wants besides the tokens' keys and values. Unless
  // something is set, it wants the last token's logits.
  struct Wanted {
    bool state = false;
    absl::Span<const int32_t> next;
    absl::Span<double> scores;
  };
  absl::Status ReadAll(absl::Span<const int32_t> ids, const Wanted& wanted);
  absl::StatusOr<absl::Span<const float>> ReadForState(
      absl::Span<const int32_t> ids);
  absl::Status ScoreOne(absl::Span<const int32_t> id, int32_t next,
                        double* score);
  absl::Status ScoreOneByOne(absl::Span<const int32_t> ids,
                             absl::Span<const int32_t> next,
                             absl::Span<double> scores);
  // Returns the next part of the tokens `left`, which begin at `position`.
  DecoderPart NextPart(absl::Span<const int32_t> left, int64_t position,
                       bool is_only_one) const;
  // Keeps the ids of the last panel, if the tokens do not fill it.
  void Remember(absl::Span<const int32_t> ids);

  const bool has_output_;
  const bool output_is_whole_;  // in one panel of columns
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

absl::Status Run::ReadAll(absl::Span<const int32_t> ids, const Wanted& wanted) {
  absl::Status status = CheckInput(ids);
  if (!status.ok()) return status;
  pass_.step_times().Clear();
  const size_t tokens = ids.size();
  for (size_t begin = 0; begin < tokens;) {
    DecoderPart part =
        NextPart(ids.subspan(begin), tokens_ + static_cast<int64_t>(begin),
                 /*is_only_one=*/tokens == 1);
    part.wants_state = wanted.state;
    if (!wanted.next.empty()) {
      part.next = wanted.next.subspan(begin, part.ids.size());
      part.scores = wanted.scores.data() + begin;
    }
    begin += part.ids.size();
    part.is_last = begin == tokens;
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
  if (!has_output_) return NoOutput();
  const absl::Status status = ReadAll(ids, {});
  if (!status.ok()) return status;
  return logits();
}

absl::StatusOr<absl::Span<const float>> Run::AppendForState(
    absl::Span<const int32_t> ids) {
  if (config_.is_bidirectional) {
    return absl::FailedPreconditionError(
        "the model is bidirectional: a text is read as a whole, by "
        "EncodeStates");
  }
  return ReadForState(ids);
}

absl::StatusOr<absl::Span<const float>> Run::EncodeStates(
    absl::Span<const int32_t> ids) {
  if (!config_.is_bidirectional) {
    return absl::FailedPreconditionError(
        "the model is not bidirectional: it has states by AppendForState");
  }
  const int64_t tokens_before = std::exchange(tokens_, 0);
  auto states = ReadForState(ids);
  // After an error the run is as before the call.
  if (!states.ok()) tokens_ = tokens_before;
  return states;
}

absl::StatusOr<absl::Span<const float>> Run::ReadForState(
    absl::Span<const int32_t> ids) {
  Wanted wanted;
  wanted.state = true;
  const absl::Status status = ReadAll(ids, wanted);
  if (!status.ok()) return status;
  return pass_.state();
}

absl::Status Run::ScoreOne(absl::Span<const int32_t> id, int32_t next,
                           double* score) {
  const auto logits = Append(id);
  if (!logits.ok()) return logits.status();
  ExponentialSum sum;
  for (const float logit : *logits) {
    if (!ExponentialSum::Takes(logit)) return NotFinite(*store_, "the output");
    sum.Add(logit);
  }
  *score = (*logits)[next] - sum.Log();
  return absl::OkStatus();
}

// The tokens before an error were read, but do not count.
absl::Status Run::ScoreOneByOne(absl::Span<const int32_t> ids,
                                absl::Span<const int32_t> next,
                                absl::Span<double> scores) {
  const int64_t tokens_before = tokens_;
  const std::array<int32_t, kPanelTokens> ids_before = last_ids_;
  absl::Status status;
  for (size_t i = 0; i < ids.size() && status.ok(); ++i) {
    status = ScoreOne(ids.subspan(i, 1), next[i], &scores[i]);
  }
  if (status.ok()) return status;
  tokens_ = tokens_before;
  last_ids_ = ids_before;
  return status;
}

absl::Status Run::AppendForScores(absl::Span<const int32_t> ids,
                                  absl::Span<const int32_t> next,
                                  absl::Span<double> scores) {
  absl::Status status = CheckInput(ids);
  status.Update(CheckIds(next, config_.vocabulary));
  if (!status.ok()) return status;
  if (next.size() != ids.size() || scores.size() != ids.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(ids.size(), " tokens, but ", next.size(),
                     " that follow them and room for ", scores.size(),
                     " scores; give as many of each"));
  }
  if (!has_output_) return NoOutput();
  // A row of the output's matrix must be one run, and have room.
  if (!output_is_whole_ || config_.hidden < plan_.request.workers) {
    return ScoreOneByOne(ids, next, scores);
  }
  Wanted wanted;
  wanted.next = next;
  wanted.scores = scores;
  return ReadAll(ids, wanted);
}

}  // namespace

absl::StatusOr<std::unique_ptr<DecoderRun>> StartDecoderRun(
    const DecoderConfig& config, const DecoderWeights& weights,
    WeightStore* store, const DecoderPlan& plan) {
  return StartRun<Run>(config, weights, store, plan);
}

}  // namespace lowmem_internal
}  // namespace footprint
