// Keeps the trials that wait or run, and chooses the next one fairly.
//
//   UnfinishedTrials trials;
//   trials.Add(7, "ci");
//   absl::optional<int64_t> next = trials.Claim();   // 7
//   trials.Finish(7);                                // or Release(7)
//
// The next trial is that of the submitter who was served the longest ago, and
// of this submitter the one that was added first. So while a submitter's trial
// waits, each other submitter gets at most one turn before it, however many
// trials of the others wait. A submitter gains nothing by sending one trial at
// a time, since the time of the last turn is kept while the submitter has no
// trials.
//
// Several submitters may wait for one trial. The first one added it, and the
// others joined. It runs when the first of these submitters has a turn, so that
// the others need not wait behind the trials of the one that came first.
//
// The class is not thread-safe. It takes about 120 bytes for each trial, and
// about 800 bytes for each submitter, which it never frees. Claim takes time in
// proportion to the number of submitters, and the other functions to the
// logarithm of the number of trials. A trial with several submitters also costs
// a search of their waiting trials.

#ifndef FOOTPRINT_GATES_STORE_UNFINISHED_TRIALS_H_
#define FOOTPRINT_GATES_STORE_UNFINISHED_TRIALS_H_

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "absl/types/optional.h"

namespace footprint {

class UnfinishedTrials {
 public:
  // Adds a trial that waits. Its sequence number must not be there yet.
  void Add(int64_t sequence, const std::string& submitter);
  // Lets a trial that waits take a turn of another submitter, too, as the last
  // of those that this submitter waits for. Does nothing if the trial does not
  // wait, or if the submitter has added or joined it already.
  void Join(int64_t sequence, const std::string& submitter);
  // Makes the next trial run, and returns its sequence number; nullopt if none
  // waits.
  absl::optional<int64_t> Claim();
  // Makes a running trial wait again, as the last of its submitters. Does
  // nothing if it does not run.
  void Release(int64_t sequence);
  // Removes a running trial. Does nothing if it does not run.
  void Finish(int64_t sequence);

  bool IsRunning(int64_t sequence) const;
  int64_t WaitingCount() const {
    return static_cast<int64_t>(trials_.size()) - running_count_;
  }
  int64_t RunningCount() const { return running_count_; }
  // Returns the number of trials that a submitter has added, and that wait or
  // run. Trials that the submitter joined do not count.
  int64_t CountOf(const std::string& submitter) const;

 private:
  struct Submitter {
    // The trials that the submitter added or joined.
    std::deque<int64_t> waiting;
    // The number of unfinished trials that the submitter added.
    int64_t added_count = 0;
    // The number of the last turn; 0: there was none.
    int64_t last_turn = 0;
  };
  using Submitters = std::map<std::string, Submitter>;
  struct Trial {
    // The submitter that added it comes first, then those that joined it.
    // Iterators of a map stay valid.
    std::vector<Submitters::iterator> submitters;
    bool is_running = false;
  };

  // The submitter to serve next; end() if none has a trial that waits.
  Submitters::iterator FindNext();

  Submitters submitters_;
  std::map<int64_t, Trial> trials_;
  int64_t running_count_ = 0;
  int64_t turn_ = 0;
};

}  // namespace footprint

#endif  // FOOTPRINT_GATES_STORE_UNFINISHED_TRIALS_H_
