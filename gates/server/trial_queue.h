// Runs the trials that wait in a store, on a fixed number of threads.
//
//   TrialQueue queue(store, run, {});
//   queue.Start();
//   ...
//   queue.NoticeSubmission();               // after each TrialStore::Submit
//   ...
//   queue.Stop();                           // waits for running trials
//
// Every trial gets a verdict. It is INCONCLUSIVE, with the reason, if `run`
// returns an error, if the server was killed during as many attempts as the
// options allow, or if the result could not be read again once it was written.
// A full disk says nothing about a bundle: a trial that finds no room
// (ResourceExhausted or Aborted) waits again, behind the trials of others and
// of its submitter, and a verdict that cannot be stored is stored later. If the
// queue stops before that, or a trial returns Cancelled, the trial keeps
// waiting in the store.
//
// `store` and what `run` refers to must outlive the queue; `run` is called on
// several threads at once. Thread-safe, but one thread must call Start, Stop
// and the destructor. Memory: the threads, and a text for each running trial.

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
#include "footprint/gates/server/duration_histograms.h"
#include "footprint/gates/server/stored_result.pb.h"
#include "footprint/gates/store/submitter_limits.h"
#include "footprint/gates/store/trial_store.h"

namespace footprint {

struct TrialToRun {
  // The trial's key.
  std::string trial;
  std::string bundle_path;
  std::string bundle_sha256;
  // The name of the token that submitted it.
  std::string submitter;
  // The limits of budget and time that it was submitted with.
  SubmitterLimits limits;
  // Reports the trial's progress to its clients: "measuring and proving",
  // "decided: ...".
  std::function<void(absl::string_view stage)> report_stage;
  // Returns whether the server is stopping. A long operation calls it now and
  // then, and returns Cancelled if so.
  std::function<bool()> is_stopped;
};

// In production this is RunTrial of gates/trials.
using RunTrialFunction =
    std::function<absl::StatusOr<StoredResult>(const TrialToRun&)>;

struct TrialQueueOptions {
  int thread_count = 1;
  // How many attempts a trial has before it is given up.
  int most_attempts = 3;
};

// Number of verdicts since the queue started, by decision.
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
  // Stops the threads. Waiting trials stay in the store.
  void Stop();

  // Returns the stage of a running trial, and of one that waits for room; empty
  // for any other.
  std::string FindStage(int64_t sequence) const;
  DecisionCounts Decided() const;
  // How long trials that were decided since the start waited until their last
  // attempt, and how long that took, by submitter.
  const DurationHistograms& waiting() const { return waiting_histograms_; }
  const DurationHistograms& running() const { return running_histograms_; }

 private:
  void Work();
  // Runs the next trial. Returns whether there was one.
  bool RunNext();
  // Runs a trial. Returns nullopt if it must wait again.
  absl::optional<StoredResult> FindResult(const StoredTrial& trial);
  // Waits before the next try. Returns false if the queue stops.
  bool WaitToRetry();
  bool IsStopping() const;
  // Stores the verdict. Returns false if the queue stops before that.
  bool Keep(int64_t sequence, const TrialOutcome& outcome);
  // Makes a trial wait again whose result is not kept.
  void Release(int64_t sequence);
  void SetStage(int64_t sequence, absl::string_view stage);

  TrialStore* const store_;
  const RunTrialFunction run_;
  const TrialQueueOptions options_;
  std::vector<std::thread> threads_;

  mutable Mutex mutex_;
  CondVar changed_;
  bool is_stopping_ ABSL_GUARDED_BY(mutex_) = false;
  // Counts submissions, so that no thread misses one.
  int64_t submission_count_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<int64_t, std::string> stages_ ABSL_GUARDED_BY(mutex_);
  DecisionCounts decided_ ABSL_GUARDED_BY(mutex_) = {};
  DurationHistograms waiting_histograms_;
  DurationHistograms running_histograms_;
};

}  // namespace footprint

#endif  // FOOTPRINT_GATES_SERVER_TRIAL_QUEUE_H_
