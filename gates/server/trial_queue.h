// Runs what waits in a store, on a thread for each trial that may run at once.
//
//   TrialQueue queue(store, run, {});
//   queue.Start();
//   ...
//   queue.NoticeSubmission();               // after each TrialStore::Submit
//   ...
//   queue.Stop();                           // waits for those that run
//
// A trial gets a verdict in any case: one that cannot be run (`run` returns an
// error), that ended with its server as often as the options allow, or whose
// result cannot be read again once it is written, is INCONCLUSIVE and says why.
// A full disk is no verdict on a bundle: a trial that finds no room
// (ResourceExhausted or Aborted) is run once there is some, and a verdict
// that cannot be kept is kept then. A queue that stops before that, or whose
// trial returns Cancelled, leaves the trial waiting.
//
// `store` and what `run` refers to outlive the queue; `run` is called on
// several threads at once. Thread-safe. Memory: threads, and a text for each
// trial that runs.

#ifndef FOOTPRINT_GATES_SERVER_TRIAL_QUEUE_H_
#define FOOTPRINT_GATES_SERVER_TRIAL_QUEUE_H_

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "footprint/base/threads/mutex.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/server/stored_result.pb.h"
#include "footprint/gates/store/trial_store.h"

namespace footprint {

struct TrialToRun {
  std::string bundle_path;
  // Tells who waits how far it is: "measuring and proving", "decided: ...".
  std::function<void(absl::string_view stage)> report_stage;
  // Whether the server ends: what may take long asks now and then, and returns
  // Cancelled.
  std::function<bool()> is_stopped;
};

// Production's is RunTrial of gates/trials.
using RunTrialFunction =
    std::function<absl::StatusOr<StoredResult>(const TrialToRun&)>;

struct TrialQueueOptions {
  int thread_count = 1;
  // How often a trial may begin before it is given up.
  int most_attempts = 3;
};

// Verdicts since the queue began, by decision.
using DecisionCounts = std::array<int64_t, 6>;

class TrialQueue {
 public:
  TrialQueue(TrialStore* store, RunTrialFunction run,
             const TrialQueueOptions& options)
      : store_(store), run_(std::move(run)), options_(options) {}
  ~TrialQueue() { Stop(); }
  TrialQueue(const TrialQueue&) = delete;
  TrialQueue& operator=(const TrialQueue&) = delete;

  void Start();
  void NoticeSubmission();
  // Trials that wait stay in the store.
  void Stop();

  // Returns the stage of a trial that runs; empty for any other.
  std::string FindStage(int64_t sequence) const;
  DecisionCounts Decided() const;

 private:
  void Work();
  // Returns whether there was one.
  bool RunNext();
  // nullopt: the queue stops, and the trial waits for the next one.
  absl::optional<StoredResult> FindResult(const StoredTrial& trial);
  // Waits before something is tried again. False: the queue stops.
  bool WaitToRetry();
  bool IsStopping() const;
  // Returns false if the queue stops, and the verdict is not kept.
  bool Keep(int64_t sequence, const TrialOutcome& outcome);
  void SetStage(int64_t sequence, absl::string_view stage);

  TrialStore* const store_;
  const RunTrialFunction run_;
  const TrialQueueOptions options_;
  std::vector<std::thread> threads_;

  mutable Mutex mutex_;
  CondVar changed_;
  bool is_stopping_ ABSL_GUARDED_BY(mutex_) = false;
  // Rises with each submission, so that none is missed.
  int64_t submission_count_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<int64_t, std::string> stages_ ABSL_GUARDED_BY(mutex_);
  DecisionCounts decided_ ABSL_GUARDED_BY(mutex_) = {};
};

}  // namespace footprint

#endif  // FOOTPRINT_GATES_SERVER_TRIAL_QUEUE_H_
