#include "footprint/memo/schedule/victim_queue.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace footprint::memo_internal {
namespace {

constexpr int kForEver = INT32_MAX;

}  // namespace

VictimQueue::VictimQueue(std::vector<double> weights)
    : weights_(std::move(weights)), next_uses_(weights_.size(), -1) {
  while (leaf_count_ < weights_.size()) leaf_count_ *= 2;
  matches_.assign(2 * leaf_count_, {-1, kForEver});
}

double VictimQueue::Gain(int value, int step) const {
  const auto index = static_cast<size_t>(value);
  return static_cast<double>(next_uses_[index] - step) * weights_[index];
}

void VictimQueue::Put(int value, int next_use, int step) {
  next_uses_[static_cast<size_t>(value)] = next_use;
  Set(value, value, step);
}

void VictimQueue::Remove(int value, int step) { Set(value, -1, step); }

void VictimQueue::Set(int value, int winner, int step) {
  size_t node = leaf_count_ + static_cast<size_t>(value);
  matches_[node].winner = winner;
  for (node /= 2; node > 0; node /= 2) {
    matches_[node] = Play(matches_[2 * node], matches_[2 * node + 1], step);
  }
}

int VictimQueue::Best(int step) {
  Refresh(1, step);
  const int best = matches_[1].winner;
  return best >= 0 && Gain(best, step) > 0 ? best : -1;
}

void VictimQueue::Refresh(size_t node, int step) {
  if (matches_[node].valid_until > step) return;
  Refresh(2 * node, step);
  Refresh(2 * node + 1, step);
  matches_[node] = Play(matches_[2 * node], matches_[2 * node + 1], step);
}

VictimQueue::Match VictimQueue::Play(const Match& left, const Match& right,
                                     int step) const {
  const int until = std::min(left.valid_until, right.valid_until);
  if (left.winner < 0 || right.winner < 0) {
    return {left.winner < 0 ? right.winner : left.winner, until};
  }
  const bool is_left = Gain(left.winner, step) >= Gain(right.winner, step);
  const int winner = is_left ? left.winner : right.winner;
  const int loser = is_left ? right.winner : left.winner;
  return {winner, std::min(until, OvertakenAt(winner, loser, step))};
}

// Returns the step at which the loser's gain may reach the winner's: the
// winner's gain shrinks by its weight per step. Rounds down to an earlier step,
// so at worst the match is played once more.
int VictimQueue::OvertakenAt(int winner, int loser, int step) const {
  const double faster_by = weights_[static_cast<size_t>(winner)] -
                           weights_[static_cast<size_t>(loser)];
  if (faster_by <= 0) return kForEver;
  const double lead = Gain(winner, step) - Gain(loser, step);
  const double steps = lead / faster_by * (1 - 1e-9);
  if (steps >= static_cast<double>(kForEver - step)) return kForEver;
  return step + std::max(1, static_cast<int>(steps));
}

}  // namespace footprint::memo_internal
