// Finds the value whose eviction frees the most bytes for the longest time at
// the least cost; a part of belady_schedule.h.
//
// A value's gain is its weight (bytes / load cost) times the steps to its next
// use. Gains shrink at different speeds from step to step, so a heap does not
// work. A tournament stores, for each match, the step until which its winner
// remains the winner.
//
//   VictimQueue queue({1.0, 3.0});
//   queue.Put(0, /*next_use=*/9, /*step=*/2);
//   queue.Put(1, /*next_use=*/4, /*step=*/2);
//   queue.Best(2);  // 0: a gain of 7, against 6 of value 1
//
// Steps must not decrease. Owns its arguments. Not thread-safe. Memory: at most
// 44 bytes per value. Time: Put and Remove are logarithmic in the values while
// the order of gains does not change; Best also plays the matches that have
// expired.

#ifndef FOOTPRINT_MEMO_SCHEDULE_VICTIM_QUEUE_H_
#define FOOTPRINT_MEMO_SCHEDULE_VICTIM_QUEUE_H_

#include <cstddef>
#include <vector>

namespace footprint::memo_internal {

class VictimQueue {
 public:
  // Takes one weight per value, at least 0.
  explicit VictimQueue(std::vector<double> weights);

  // Adds the value, or changes its next use.
  void Put(int value, int next_use, int step);
  // Removes the value if it is present.
  void Remove(int value, int step);
  // Returns the value of the largest gain, the first one if several are equal;
  // -1 if no value has a gain above 0.
  int Best(int step);

 private:
  struct Match {
    int winner = -1;
    // The step from which the winner may change.
    int valid_until = 0;
  };

  double Gain(int value, int step) const;
  void Set(int value, int winner, int step);
  void Refresh(size_t node, int step);
  Match Play(const Match& left, const Match& right, int step) const;
  int OvertakenAt(int winner, int loser, int step) const;

  const std::vector<double> weights_;
  std::vector<int> next_uses_;
  size_t leaf_count_ = 1;
  // Node 1 is the final, matches 2 n and 2 n + 1 lead to n, and the last nodes
  // are the values.
  std::vector<Match> matches_;
};

}  // namespace footprint::memo_internal

#endif  // FOOTPRINT_MEMO_SCHEDULE_VICTIM_QUEUE_H_
