// Runs a job of steps that may fail on a team of workers.
//
//   footprint::StepTeam team(2);
//   absl::Status status = team.Run([&](int worker) {
//     team.RunPhase([&] { return ReadShare(worker); });
//     team.RunPhase([&] { return UseWhatOthersRead(worker); });
//   });
//
// After a step has failed on any worker, no worker begins another step, and Run
// returns the first error.
//
// Owns its threads; Run keeps nothing of a job. Thread-compatible: one Run at a
// time. Memory: that of WorkerTeam; nothing is allocated unless a step fails.

#ifndef FOOTPRINT_LOWMEM_WORKERS_STEP_TEAM_H_
#define FOOTPRINT_LOWMEM_WORKERS_STEP_TEAM_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "footprint/base/threads/mutex.h"
#include "footprint/base/threads/worker_team.h"

namespace footprint {

// The indices from `begin` up to but excluding `end`.
struct IndexRange {
  int64_t begin = 0;
  int64_t end = 0;

  int64_t size() const { return end - begin; }
};

// Returns a worker's part of [0, count). Parts begin at multiples of `unit`.
inline IndexRange ComputeShare(int64_t count, int64_t unit, int worker,
                               int workers) {
  const int64_t units = (count + unit - 1) / unit;
  return {std::min(count, units * worker / workers * unit),
          std::min(count, units * (worker + 1) / workers * unit)};
}

class StepTeam {
 public:
  // The team is smaller if the system refuses to start that many threads.
  explicit StepTeam(int workers) : team_(workers) {}

  int size() const { return team_.size(); }

  absl::Status Run(absl::FunctionRef<void(int worker)> job) {
    failed_ = false;
    team_.Run(job);
    if (!failed_) return absl::OkStatus();
    MutexLock lock(&mutex_);
    return std::exchange(status_, absl::OkStatus());
  }

  // Runs a step, which returns an absl::Status, and waits for the other
  // workers. Every worker must call it inside a job.
  template <class Step>
  void RunPhase(const Step& step) {
    if (!failed_.load(std::memory_order_relaxed)) {
      const absl::Status status = step();
      if (!status.ok()) {
        MutexLock lock(&mutex_);
        status_.Update(status);
        failed_ = true;
      }
    }
    team_.ArriveAndWait();
  }

 private:
  WorkerTeam team_;
  std::atomic<bool> failed_{false};
  Mutex mutex_;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace footprint

#endif  // FOOTPRINT_LOWMEM_WORKERS_STEP_TEAM_H_
