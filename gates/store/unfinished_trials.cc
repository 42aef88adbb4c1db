#include "footprint/gates/store/unfinished_trials.h"

#include <algorithm>

namespace footprint {

void UnfinishedTrials::Add(int64_t sequence, const std::string& submitter) {
  const auto added = submitters_.try_emplace(submitter).first;
  added->second.waiting.push_back(sequence);
  ++added->second.added_count;
  trials_[sequence].submitters = {added};
}

void UnfinishedTrials::Join(int64_t sequence, const std::string& submitter) {
  const auto found = trials_.find(sequence);
  if (found == trials_.end() || found->second.is_running) return;
  const auto joined = submitters_.try_emplace(submitter).first;
  std::vector<Submitters::iterator>& all = found->second.submitters;
  if (std::find(all.begin(), all.end(), joined) != all.end()) return;
  joined->second.waiting.push_back(sequence);
  all.push_back(joined);
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
    // is served first. If both wait for the same trial, it does not matter
    // which of them has the turn.
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
  const int64_t sequence = next->second.waiting.front();
  next->second.last_turn = ++turn_;
  Trial& trial = trials_.at(sequence);
  trial.is_running = true;
  ++running_count_;
  for (const auto& each : trial.submitters) {
    std::deque<int64_t>& waiting = each->second.waiting;
    waiting.erase(std::find(waiting.begin(), waiting.end(), sequence));
  }
  return sequence;
}

void UnfinishedTrials::Release(int64_t sequence) {
  const auto found = trials_.find(sequence);
  if (found == trials_.end() || !found->second.is_running) return;
  for (const auto& each : found->second.submitters) {
    each->second.waiting.push_back(sequence);
  }
  found->second.is_running = false;
  --running_count_;
}

void UnfinishedTrials::Finish(int64_t sequence) {
  const auto found = trials_.find(sequence);
  if (found == trials_.end() || !found->second.is_running) return;
  --found->second.submitters.front()->second.added_count;
  --running_count_;
  trials_.erase(found);
}

bool UnfinishedTrials::IsRunning(int64_t sequence) const {
  const auto found = trials_.find(sequence);
  return found != trials_.end() && found->second.is_running;
}

int64_t UnfinishedTrials::CountOf(const std::string& submitter) const {
  const auto found = submitters_.find(submitter);
  return found == submitters_.end() ? 0 : found->second.added_count;
}

}  // namespace footprint
