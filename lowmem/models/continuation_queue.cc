#include "footprint/lowmem/models/continuation_queue.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "footprint/lowmem/streaming/model_run.h"

namespace footprint {
namespace {

// The results for each place that wait for an earlier one.
constexpr size_t kMostWaiting = 16;

struct Job {
  explicit Job(Continuation job_continuation)
      : continuation(std::move(job_continuation)),
        sampler(continuation.sampling) {}

  Continuation continuation;
  TokenSampler sampler;
  bool is_done = false;
};

absl::Status CheckPrompt(const Continuation& continuation,
                         const DecoderPlanRequest& planned) {
  const absl::Status status =
      lowmem_internal::CheckIds(continuation.prompt, planned.config.vocabulary);
  if (!status.ok()) return status;
  const auto tokens = static_cast<int64_t>(continuation.prompt.size());
  if (tokens > planned.positions) {
    return absl::InvalidArgumentError(
        absl::StrCat("the prompt has ", tokens, " tokens, but the plan is for ",
                     planned.positions));
  }
  if (continuation.most_tokens < 1) {
    return absl::InvalidArgumentError("no token is to be generated");
  }
  return absl::OkStatus();
}

class Queue {
 public:
  Queue(DecoderRun& run, absl::FunctionRef<absl::optional<Continuation>()> next)
      : run_(run), next_(next), places_(run.plan().request.sequences) {}

  absl::Status ContinueAll(
      absl::FunctionRef<absl::Status(const Continuation&)> take);

 private:
  void FillPlaces();
  // Returns the next prompt that can be continued, or null if there is none or
  // too many results wait.
  Job* TakeNext();
  absl::Status Step();
  // Chooses the next token of the sequence in a place, which becomes free if
  // the sequence ends.
  void Choose(int64_t place);

  DecoderRun& run_;
  absl::FunctionRef<absl::optional<Continuation>()> next_;
  bool has_next_ = true;
  std::deque<Job> jobs_;      // in the order of the prompts
  std::vector<Job*> places_;  // null if free
  std::vector<SequenceTokens> inputs_;
};

Job* Queue::TakeNext() {
  while (has_next_ && jobs_.size() < kMostWaiting * places_.size()) {
    absl::optional<Continuation> next = next_();
    has_next_ = next.has_value();
    if (!has_next_) break;
    jobs_.emplace_back(*std::move(next));
    Continuation& continuation = jobs_.back().continuation;
    continuation.status.Update(CheckPrompt(continuation, run_.plan().request));
    if (continuation.status.ok()) return &jobs_.back();
    jobs_.back().is_done = true;
  }
  return nullptr;
}

void Queue::FillPlaces() {
  for (size_t place = 0; place < places_.size(); ++place) {
    if (places_[place] != nullptr) continue;
    places_[place] = TakeNext();
    if (places_[place] == nullptr) return;
    run_.ClearSequence(static_cast<int64_t>(place));
  }
}

void Queue::Choose(int64_t place) {
  Job& job = *places_[place];
  Continuation& continuation = job.continuation;
  const int32_t id = job.sampler.Choose(run_.LogitsOf(place));
  continuation.ids.push_back(id);
  continuation.has_stopped = std::count(continuation.stop_ids.begin(),
                                        continuation.stop_ids.end(), id) > 0;
  job.is_done = continuation.has_stopped ||
                static_cast<int64_t>(continuation.ids.size()) ==
                    continuation.most_tokens ||
                run_.TokensOf(place) == run_.plan().request.positions;
  if (job.is_done) places_[place] = nullptr;
}

absl::Status Queue::Step() {
  inputs_.clear();
  for (size_t place = 0; place < places_.size(); ++place) {
    if (places_[place] == nullptr) continue;
    const Continuation& continuation = places_[place]->continuation;
    absl::Span<const int32_t> unread = continuation.prompt;
    if (!continuation.ids.empty()) {
      unread = absl::MakeConstSpan(&continuation.ids.back(), 1);
    }
    inputs_.push_back({static_cast<int64_t>(place), unread});
  }
  if (inputs_.empty()) return absl::OkStatus();
  const absl::Status status = run_.AppendTogether(inputs_);
  if (!status.ok()) return status;
  for (const SequenceTokens& input : inputs_) Choose(input.sequence);
  return absl::OkStatus();
}

absl::Status Queue::ContinueAll(
    absl::FunctionRef<absl::Status(const Continuation&)> take) {
  while (has_next_ || !jobs_.empty()) {
    FillPlaces();
    const absl::Status status = Step();
    if (!status.ok()) return status;
    while (!jobs_.empty() && jobs_.front().is_done) {
      const absl::Status taken = take(jobs_.front().continuation);
      if (!taken.ok()) return taken;
      jobs_.pop_front();
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ContinueAll(
    DecoderRun& run, absl::FunctionRef<absl::optional<Continuation>()> next,
    absl::FunctionRef<absl::Status(const Continuation&)> take) {
  return Queue(run, next).ContinueAll(take);
}

}  // namespace footprint
