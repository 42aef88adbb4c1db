#include "footprint/gates/server/trial_queue.h"

#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "footprint/base/machine/monotonic_time.h"

namespace footprint {
namespace {

// The pause before the next try if a store or a host has no room.
constexpr absl::Duration kRetryTime = absl::Milliseconds(500);

StoredResult Inconclusive(const StoredTrial& trial,
                          const std::string& message) {
  StoredResult result;
  result.set_deployment(trial.deployment);
  result.mutable_verdict()->set_decision(INCONCLUSIVE);
  Problem* problem = result.mutable_verdict()->add_problems();
  problem->set_decision(INCONCLUSIVE);
  problem->set_location(trial.deployment.empty() ? "bundle" : trial.deployment);
  problem->set_message(message);
  return result;
}

// Returns whether the error is a temporary lack of room, which says nothing
// about the bundle.
bool IsForWantOfRoom(const absl::Status& error) {
  return absl::IsResourceExhausted(error) || absl::IsAborted(error);
}

}  // namespace

void TrialQueue::Start() {
  for (int i = 0; i < options_.thread_count; ++i) {
    threads_.emplace_back([this] { Work(); });
  }
}

void TrialQueue::NoticeSubmission() {
  MutexLock lock(&mutex_);
  ++submission_count_;
  changed_.NotifyOne();
}

void TrialQueue::Stop() {
  {
    MutexLock lock(&mutex_);
    is_stopping_ = true;
    changed_.NotifyAll();
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void TrialQueue::Work() {
  while (true) {
    int64_t seen_count = 0;
    {
      MutexLock lock(&mutex_);
      if (is_stopping_) return;
      seen_count = submission_count_;
    }
    if (RunNext()) continue;
    MutexLock lock(&mutex_);
    while (!is_stopping_ && submission_count_ == seen_count) {
      changed_.Wait(&mutex_);
    }
  }
}

bool TrialQueue::IsStopping() const {
  MutexLock lock(&mutex_);
  return is_stopping_;
}

bool TrialQueue::WaitToRetry() {
  absl::SleepFor(kRetryTime);
  return !IsStopping();
}

bool TrialQueue::RunNext() {
  const absl::StatusOr<absl::optional<StoredTrial>> claimed = store_->Claim();
  if (!claimed.ok()) return WaitToRetry();
  if (!claimed->has_value()) return false;
  const StoredTrial& trial = **claimed;
  const absl::Time start = absl::Now();
  const int64_t start_ns = MonotonicTimeNs();
  const absl::optional<StoredResult> result = FindResult(trial);
  TrialOutcome outcome;
  bool is_kept = false;
  if (result.has_value()) {
    outcome.decision = result->verdict().decision();
    outcome.deployment = result->deployment();
    outcome.result = result->SerializeAsString();
    is_kept = Keep(trial.sequence, outcome);
  }
  if (!is_kept) {
    Release(trial.sequence);
    return true;
  }
  waiting_histograms_.Add(
      trial.submitter,
      absl::ToDoubleSeconds(
          start - absl::FromUnixSeconds(trial.submitted_unix_seconds)));
  running_histograms_.Add(
      trial.submitter,
      static_cast<double>(MonotonicTimeNs() - start_ns) * 1e-9);
  MutexLock lock(&mutex_);
  stages_.erase(trial.sequence);
  const auto decision = static_cast<size_t>(outcome.decision);
  if (decision < decided_.size()) ++decided_[decision];
  return true;
}

// The attempt does not count, so that a disk that is full for long does not
// look like a trial that ends its server. The pause leaves others the time to
// make room.
void TrialQueue::Release(int64_t sequence) {
  while (!IsStopping()) {
    absl::SleepFor(kRetryTime);
    if (store_->Release(sequence).ok()) return;
  }
  store_->Release(sequence).IgnoreError();
}

// Retries until the store keeps the verdict, whatever the error: a disk may
// have room again, and an operator can mend what the stage says. Another run of
// the trial would take as long as this one, and count as an attempt.
bool TrialQueue::Keep(int64_t sequence, const TrialOutcome& outcome) {
  while (true) {
    const absl::Status kept = store_->Decide(sequence, outcome);
    if (kept.ok()) return true;
    SetStage(sequence,
             absl::StrCat(absl::IsResourceExhausted(kept)
                              ? "waiting for room to keep the verdict: "
                              : "waiting to keep the verdict: ",
                          kept.message()));
    if (!WaitToRetry()) return false;
  }
}

absl::optional<StoredResult> TrialQueue::FindResult(const StoredTrial& trial) {
  if (trial.attempt_count > options_.most_attempts) {
    return Inconclusive(
        trial, absl::StrCat("the server ended ", options_.most_attempts,
                            " times while this ran; look into its log, and "
                            "submit the bundle again with a change"));
  }
  TrialToRun to_run;
  to_run.trial = trial.key;
  to_run.bundle_path = store_->PathOfBundle(trial.bundle_sha256);
  to_run.bundle_sha256 = trial.bundle_sha256;
  to_run.submitter = trial.submitter;
  to_run.limits = trial.limits;
  to_run.report_stage = [&](absl::string_view stage) {
    SetStage(trial.sequence, stage);
  };
  to_run.is_stopped = [this] { return IsStopping(); };
  SetStage(trial.sequence, "starting");
  const absl::StatusOr<StoredResult> result = run_(to_run);
  if (result.ok()) {
    // A text that is not UTF-8 can be written, but not parsed.
    if (StoredResult().ParseFromString(result->SerializeAsString())) {
      return *result;
    }
    return Inconclusive(trial,
                        "its verdict cannot be kept: a text in it is not "
                        "UTF-8; look for names that are not");
  }
  if (absl::IsCancelled(result.status())) return absl::nullopt;
  if (!IsForWantOfRoom(result.status())) {
    return Inconclusive(
        trial, absl::StrCat("could not be run: ", result.status().message()));
  }
  SetStage(trial.sequence, absl::StrCat("waiting for room on this host: ",
                                        result.status().message()));
  return absl::nullopt;
}

void TrialQueue::SetStage(int64_t sequence, absl::string_view stage) {
  MutexLock lock(&mutex_);
  stages_[sequence] = std::string(stage);
}

std::string TrialQueue::FindStage(int64_t sequence) const {
  MutexLock lock(&mutex_);
  const auto found = stages_.find(sequence);
  return found == stages_.end() ? "" : found->second;
}

DecisionCounts TrialQueue::Decided() const {
  MutexLock lock(&mutex_);
  return decided_;
}

}  // namespace footprint
