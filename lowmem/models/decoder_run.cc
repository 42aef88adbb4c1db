#include "footprint/lowmem/models/decoder_run.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "footprint/base/memory/mapped_block.h"
#include "footprint/base/memory/mapped_memory.h"
#include "footprint/lowmem/kernels/token_panel.h"
#include "footprint/lowmem/models/decoder_pass.h"
#include "footprint/lowmem/streaming/model_run.h"
#include "footprint/lowmem/weights/pinned_store.h"

namespace footprint {
namespace lowmem_internal {
namespace {

class Run : public DecoderRun {
 public:
  Run(const DecoderConfig& config, const DecoderWeights& weights,
      WeightStore* store, const DecoderPlan& plan, RunMemory memory)
      : config_(config),
        plan_(plan),
        arena_(std::move(memory.arena)),
        pinned_(std::move(memory.pinned)),
        store_(pinned_ == nullptr ? store : pinned_.get()),
        pass_(config_, weights, plan_, arena_, store_) {}

  absl::Status Start() {
    const absl::Status status =
        CheckWorkers(pass_.workers(), plan_.request.workers);
    return status.ok() ? pass_.OpenStreams() : status;
  }

  absl::StatusOr<absl::Span<const float>> Append(
      absl::Span<const int32_t> ids) override;
  absl::Span<const float> logits() const override { return pass_.logits(); }
  void Clear() override { tokens_ = 0; }
  int64_t tokens() const override { return tokens_; }
  absl::Span<const int64_t> step_nanoseconds() const override {
    return pass_.step_times().nanoseconds();
  }
  int64_t ResidentArenaBytes() const override {
    return PresentBytes(arena_.At<char>(0), arena_.size_bytes());
  }
  std::string ReadingDescription() const override {
    return pass_.ReadingDescription();
  }

 private:
  absl::Status CheckInput(absl::Span<const int32_t> ids) const;
  int64_t NextPartTokens(int64_t position, int64_t left) const;

  const DecoderConfig config_;
  const DecoderPlan plan_;
  const MappedBlock arena_;
  const std::unique_ptr<PinnedStore> pinned_;  // null: nothing is
  WeightStore* const store_;
  DecoderPass pass_;
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
    part.panels = PanelCount(count);
    begin += count;
    part.is_last = begin == tokens;
    status = pass_.Read(part);
    if (!status.ok()) return PassFault(*store_, status);
  }
  // What was used where it lies may have changed under our hands.
  status = store_->CheckFile();
  if (!status.ok()) return status;
  tokens_ += tokens;
  return logits();
}

}  // namespace

absl::StatusOr<std::unique_ptr<DecoderRun>> StartDecoderRun(
    const DecoderConfig& config, const DecoderWeights& weights,
    WeightStore* store, const DecoderPlan& plan) {
  absl::StatusOr<RunMemory> memory =
      TakeRunMemory(plan.peak_bytes, plan.pinned, TensorsToPin(weights), store);
  if (!memory.ok()) return memory.status();
  auto run =
      std::make_unique<Run>(config, weights, store, plan, *std::move(memory));
  const absl::Status status = run->Start();
  if (!status.ok()) return status;
  return run;
}

}  // namespace lowmem_internal
}  // namespace footprint
