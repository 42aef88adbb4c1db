#include "footprint/lowmem/models/decoder_run.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

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
                                            weights.output.columns()),
        sequences_(plan_.request.sequences) {
    parts_.reserve(plan_.chunk_tokens / kPanelTokens + plan_.request.sequences);
  }

  absl::Status AppendTogether(absl::Span<const SequenceTokens> inputs) override;
  absl::StatusOr<absl::Span<const float>> Append(
      absl::Span<const int32_t> ids) override;
  absl::StatusOr<absl::Span<const float>> AppendForState(
      absl::Span<const int32_t> ids) override;
  absl::StatusOr<absl::Span<const float>> EncodeStates(
      absl::Span<const int32_t> ids) override;
  absl::Status AppendForScores(absl::Span<const int32_t> ids,
                               absl::Span<const int32_t> next,
                               absl::Span<double> scores) override;
  absl::Span<const float> LogitsOf(int64_t sequence) const override {
    return pass_.logits(sequence);
  }
  void ClearSequence(int64_t sequence) override {
    sequences_[sequence].tokens = 0;
  }
  int64_t TokensOf(int64_t sequence) const override {
    return sequences_[sequence].tokens;
  }
  const DecoderPlan& plan() const override { return plan_; }
  int64_t passes() const override { return passes_; }

 private:
  struct Sequence {
    int64_t tokens = 0;
    // The ids of the cache's last panel, if it is not full.
    std::array<int32_t, kPanelTokens> last_ids = {};
  };

  absl::Status CheckInput(const SequenceTokens& input) const;
  absl::Status CheckInputs(absl::Span<const SequenceTokens> inputs) const;
  // The results that a caller wants besides the tokens' keys and values. Unless
  // something is set, it wants the last token's logits.
  struct Wanted {
    bool state = false;
    absl::Span<const int32_t> next;
    absl::Span<double> scores;
  };
  absl::Status ReadAll(absl::Span<const SequenceTokens> inputs,
                       const Wanted& wanted);
  absl::StatusOr<absl::Span<const float>> ReadForState(
      absl::Span<const int32_t> ids);
  absl::Status ScoreOne(absl::Span<const int32_t> id, int32_t next,
                        double* score);
  absl::Status ScoreOneByOne(absl::Span<const int32_t> ids,
                             absl::Span<const int32_t> next,
                             absl::Span<double> scores);
  // Adds a part: the input's next tokens from the one at `begin` on, as many as
  // fit into `room` slots from `first_slot` on. Returns the part.
  const DecoderPart& AddPart(const SequenceTokens& input, size_t begin,
                             int64_t first_slot, int64_t room,
                             const Wanted& wanted);
  // Adds parts of several tokens up to `room` slots, from the first token that
  // is not read on: that at `begin` of the input `index`. Returns the slots.
  int64_t AddPrompts(absl::Span<const SequenceTokens> inputs, int64_t room,
                     const Wanted& wanted, size_t* index, size_t* begin);
  // Keeps the ids of the last panel, if the tokens do not fill it.
  void Remember(const SequenceTokens& input);

  const bool has_output_;
  const bool output_is_whole_;  // in one panel of columns
  std::vector<Sequence> sequences_;
  std::vector<DecoderPart> parts_;  // of one reading
  int64_t passes_ = 0;
};

absl::Status Run::CheckInput(const SequenceTokens& input) const {
  const absl::Status status = CheckIds(input.ids, config_.vocabulary);
  if (!status.ok()) return status;
  const auto tokens = static_cast<int64_t>(input.ids.size());
  const int64_t before = sequences_[input.sequence].tokens;
  if (before + tokens > plan_.request.positions) {
    return absl::InvalidArgumentError(absl::StrCat(
        tokens, " tokens after ", before, " that were read, but the plan is ",
        "for ", plan_.request.positions));
  }
  return absl::OkStatus();
}

absl::Status Run::CheckInputs(absl::Span<const SequenceTokens> inputs) const {
  if (inputs.empty()) return absl::InvalidArgumentError("no sequence to read");
  int64_t next = 0;
  for (const SequenceTokens& input : inputs) {
    const int64_t planned = plan_.request.sequences;
    if (input.sequence < next || input.sequence >= planned) {
      return absl::InvalidArgumentError(
          absl::StrCat("sequence ", input.sequence, ", where those from ", next,
                       " to ", planned - 1, " can follow"));
    }
    next = input.sequence + 1;
    const absl::Status status = CheckInput(input);
    if (status.ok()) continue;
    if (planned == 1) return status;
    return absl::Status(status.code(), absl::StrCat("sequence ", input.sequence,
                                                    ": ", status.message()));
  }
  return absl::OkStatus();
}

// A single token is read as a vector. Several tokens are read in whole panels
// that begin at panels of the cache; if the position is within a panel, its
// earlier tokens are read again.
const DecoderPart& Run::AddPart(const SequenceTokens& input, size_t begin,
                                int64_t first_slot, int64_t room,
                                const Wanted& wanted) {
  const Sequence& sequence = sequences_[input.sequence];
  const absl::Span<const int32_t> left = input.ids.subspan(begin);
  const int64_t position = sequence.tokens + static_cast<int64_t>(begin);
  DecoderPart part;
  part.sequence = input.sequence;
  part.first_slot = first_slot;
  part.is_single = input.ids.size() == 1;
  const int64_t within = part.is_single ? 0 : position % kPanelTokens;
  part.again = absl::MakeConstSpan(sequence.last_ids).first(within);
  part.position = position - within;
  part.ids =
      left.first(std::min(static_cast<int64_t>(left.size()), room - within));
  part.is_last = part.ids.size() == left.size();
  part.wants_state = wanted.state;
  if (!wanted.next.empty()) {
    part.next = wanted.next.subspan(begin, part.ids.size());
    part.scores = wanted.scores.data() + begin;
  }
  parts_.push_back(part);
  return parts_.back();
}

int64_t Run::AddPrompts(absl::Span<const SequenceTokens> inputs, int64_t room,
                        const Wanted& wanted, size_t* index, size_t* begin) {
  int64_t slots = 0;
  for (; *index < inputs.size(); ++*index, *begin = 0) {
    if (inputs[*index].ids.size() == 1) continue;
    if (slots == room) break;
    const DecoderPart& part =
        AddPart(inputs[*index], *begin, slots, room - slots, wanted);
    slots = PanelCount(part.end_slot()) * kPanelTokens;
    *begin += part.ids.size();
    if (!part.is_last) break;
  }
  return slots;
}

void Run::Remember(const SequenceTokens& input) {
  Sequence& sequence = sequences_[input.sequence];
  for (const int32_t id : input.ids) {
    sequence.last_ids[sequence.tokens++ % kPanelTokens] = id;
  }
}

// The first reading has the single tokens, and as many others as there is room
// for beside them.
absl::Status Run::ReadAll(absl::Span<const SequenceTokens> inputs,
                          const Wanted& wanted) {
  absl::Status status = CheckInputs(inputs);
  if (!status.ok()) return status;
  pass_.step_times().Clear();
  int64_t singles = std::count_if(
      inputs.begin(), inputs.end(),
      [](const SequenceTokens& input) { return input.ids.size() == 1; });
  size_t index = 0;
  size_t begin = 0;
  while (singles > 0 || index < inputs.size()) {
    parts_.clear();
    const int64_t room =
        plan_.chunk_tokens - PanelCount(singles) * kPanelTokens;
    int64_t slot = AddPrompts(inputs, room, wanted, &index, &begin);
    for (size_t i = 0; singles > 0; ++i) {
      if (inputs[i].ids.size() > 1) continue;
      AddPart(inputs[i], 0, slot++, 1, wanted);
      --singles;
    }
    if (parts_.empty()) break;
    status = pass_.Read(parts_);
    if (!status.ok()) return PassFault(*store_, status);
    passes_ += pass_.has_read_output() ? 1 : 0;
  }
  // Weights that were used in place may have changed in the meantime.
  status = store_->CheckFile();
  if (!status.ok()) return status;
  for (const SequenceTokens& input : inputs) Remember(input);
  return absl::OkStatus();
}

absl::Status Run::AppendTogether(absl::Span<const SequenceTokens> inputs) {
  if (!has_output_) return NoOutput();
  return ReadAll(inputs, {});
}

absl::StatusOr<absl::Span<const float>> Run::Append(
    absl::Span<const int32_t> ids) {
  const absl::Status status = AppendTogether({{0, ids}});
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
  const int64_t tokens_before = std::exchange(sequences_[0].tokens, 0);
  auto states = ReadForState(ids);
  // After an error the run is as before the call.
  if (!states.ok()) sequences_[0].tokens = tokens_before;
  return states;
}

absl::StatusOr<absl::Span<const float>> Run::ReadForState(
    absl::Span<const int32_t> ids) {
  Wanted wanted;
  wanted.state = true;
  const absl::Status status = ReadAll({{0, ids}}, wanted);
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
  const Sequence before = sequences_[0];
  absl::Status status;
  for (size_t i = 0; i < ids.size() && status.ok(); ++i) {
    status = ScoreOne(ids.subspan(i, 1), next[i], &scores[i]);
  }
  if (status.ok()) return status;
  sequences_[0] = before;
  return status;
}

absl::Status Run::AppendForScores(absl::Span<const int32_t> ids,
                                  absl::Span<const int32_t> next,
                                  absl::Span<double> scores) {
  absl::Status status = CheckInputs({{0, ids}});
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
  return ReadAll({{0, ids}}, wanted);
}

}  // namespace

absl::StatusOr<std::unique_ptr<DecoderRun>> StartDecoderRun(
    const DecoderConfig& config, const DecoderWeights& weights,
    WeightStore* store, const DecoderPlan& plan) {
  return StartRun<Run>(config, weights, store, plan);
}

}  // namespace lowmem_internal
}  // namespace footprint
