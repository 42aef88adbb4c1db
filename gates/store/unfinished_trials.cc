#include "footprint/gates/store/unfinished_trials.h"

namespace footprint {

void UnfinishedTrials::Add(int64_t sequence, const std::string& submitter) {
  submitters_[submitter].waiting.push_back(sequence);
  ++waiting_count_;
}

UnfinishedTrials::Submitters::iterator UnfinishedTrials::FindNext() {
  auto next = submitters_.end();
  for (auto each = submitters_.begin(); each != submitters_.end(); ++each) {
    if (each->second.waiting.empty()) continue;
    if (next == submitters_.end()) {
      next = each;
      continue;
    }
    const Submitter& one = each->second;
    const Submitter& best = next->second;
    // Only submitters without a turn have the same number; then who came first
    // is served first.
    if (one.last_turn < best.last_turn ||
        (one.last_turn == best.last_turn &&
         one.waiting.front() < best.waiting.front())) {
      next = each;
    }
  }
  return next;
}

absl::optional<int64_t> UnfinishedTrials::Claim() {
  const auto next = FindNext();
  if (next == submitters_.end()) return absl::nullopt;
  Submitter& submitter = next->second;
  const int64_t sequence = submitter.waiting.front();
  submitter.waiting.pop_front();
  --waiting_count_;
  ++submitter.running_count;
  submitter.last_turn = ++turn_;
  running_.emplace(sequence, next);
  return sequence;
}

void UnfinishedTrials::Release(int64_t sequence) {
  const auto found = running_.find(sequence);
  if (found == running_.end()) return;
  Submitter& submitter = found->second->second;
  submitter.waiting.push_back(sequence);
  ++waiting_count_;
  --submitter.running_count;
  running_.erase(found);
}

void UnfinishedTrials::Finish(int64_t sequence) {
  const auto found = running_.find(sequence);
  if (found == running_.end()) return;
  --found->second->second.running_count;
  running_.erase(found);
}

int64_t UnfinishedTrials::CountOf(const std::string& submitter) const {
  const auto found = submitters_.find(submitter);
  if (found == submitters_.end()) return 0;
  return static_cast<int64_t>(found->second.waiting.size()) +
         found->second.running_count;
}

}  // namespace footprint
