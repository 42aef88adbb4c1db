// The value whose eviction frees most, for longest, at the least cost; a part
// of belady_schedule.h.
//
// A value's gain is its weight (bytes / load cost) times the steps to its next
// use. Gains shrink at different speeds as the steps go by, so a heap will not
// do: a tournament keeps, for each match, the step until which its winner stays
// the winner.
//
//   VictimQueue queue({1.0, 3.0});
//   queue.Put(0, /*next_use=*/9, /*step=*/2);
//   queue.Put(1, /*next_use=*/4, /*step=*/2);
//   queue.Best(2);  // 0: a gain of 7, and 6 of the other
//
// Steps never go back. Owns what it is given. Not thread-safe. Memory: 44 bytes
// a value at most. Time: logarithmic in the values, where the order of gains
// stays, for Put and Remove; Best besides plays the matches whose time has come
// again.

#ifndef FOOTPRINT_MEMO_SCHEDULE_VICTIM_QUEUE_H_
#define FOOTPRINT_MEMO_SCHEDULE_VICTIM_QUEUE_H_

#include <cstddef>
#include <vector>

namespace footprint::memo_internal {

class VictimQueue {
 public:
  // One weight a value, at least 0.
  explicit VictimQueue(std::vector<double> weights);

  // Adds the value, or tells of its new next use.
  void Put(int value, int next_use, int step);
  // It may be absent.
  void Remove(int value, int step);
  // The value of the largest gain, of equal ones the first; -1 if none has a
  // gain above 0.
  int Best(int step);

 private:
  struct Match {
    int winner = -1;
    // The step from which on the winner may be another.
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
  // Node 1 is the final; 2 n and 2 n + 1 lead to n; the last are the values.
  std::vector<Match> matches_;
};

}  // namespace footprint::memo_internal

#endif  // FOOTPRINT_MEMO_SCHEDULE_VICTIM_QUEUE_H_
