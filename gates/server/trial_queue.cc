#include "footprint/gates/server/trial_queue.h"

#include <unistd.h>

#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/optional.h"

namespace footprint {
namespace {

// Before a store that refuses is asked again.
constexpr unsigned kRetryMicroseconds = 500000;

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

bool TrialQueue::RunNext() {
  const absl::StatusOr<absl::optional<StoredTrial>> claimed = store_->Claim();
  if (!claimed.ok()) {
    usleep(kRetryMicroseconds);
    return true;
  }
  if (!claimed->has_value()) return false;
  const StoredTrial& trial = **claimed;
  const StoredResult result = ResultOf(trial);
  TrialOutcome outcome;
  outcome.decision = result.verdict().decision();
  outcome.deployment = result.deployment();
  outcome.result = result.SerializeAsString();
  const bool is_kept = Keep(trial.sequence, outcome);
  if (!is_kept) store_->Release(trial.sequence);
  MutexLock lock(&mutex_);
  stages_.erase(trial.sequence);
  const auto decision = static_cast<size_t>(outcome.decision);
  if (is_kept && decision < decided_.size()) ++decided_[decision];
  return true;
}

// A store without room has it again some time; another run would only cost
// what this one did, and count as an attempt.
bool TrialQueue::Keep(int64_t sequence, const TrialOutcome& outcome) {
  while (!store_->Decide(sequence, outcome).ok()) {
    SetStage(sequence, "waiting for room to keep the verdict");
    usleep(kRetryMicroseconds);
    MutexLock lock(&mutex_);
    if (is_stopping_) return false;
  }
  return true;
}

StoredResult TrialQueue::ResultOf(const StoredTrial& trial) {
  if (trial.attempt_count > options_.most_attempts) {
    return Inconclusive(
        trial, absl::StrCat("the server ended ", options_.most_attempts,
                            " times while this ran; look into its log, and "
                            "submit the bundle again with a change"));
  }
  SetStage(trial.sequence, "starting");
  TrialToRun to_run;
  to_run.bundle_path = store_->PathOfBundle(trial.bundle_sha256);
  to_run.report_stage = [&](absl::string_view stage) {
    SetStage(trial.sequence, stage);
  };
  absl::StatusOr<StoredResult> result = run_(to_run);
  if (result.ok()) return *std::move(result);
  return Inconclusive(
      trial, absl::StrCat("could not be run: ", result.status().message()));
}

void TrialQueue::SetStage(int64_t sequence, absl::string_view stage) {
  MutexLock lock(&mutex_);
  stages_[sequence] = std::string(stage);
}

std::string TrialQueue::StageOf(int64_t sequence) const {
  MutexLock lock(&mutex_);
  const auto found = stages_.find(sequence);
  return found == stages_.end() ? "" : found->second;
}

DecisionCounts TrialQueue::Decided() const {
  MutexLock lock(&mutex_);
  return decided_;
}

}  // namespace footprint
