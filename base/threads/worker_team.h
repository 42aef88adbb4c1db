// A few threads that do one job together, step by step.
//
//   footprint::WorkerTeam team(2);
//   team.Run([&](int worker) {
//     ComputeShare(worker);
//     team.ArriveAndWait();  // until every worker is here
//     UseWhatOthersComputed(worker);
//   });
//
// Worker 0 is the caller of Run. The others wait in the kernel between runs. At
// ArriveAndWait a worker looks for a short time whether the others have come,
// then lets other programs run, so that the speed does not collapse if there
// are more threads than free cores.
//
// Owns its threads, which end with it; Run keeps nothing of a job.
// Thread-compatible: one Run at a time. Memory: a thread's stack for each
// further worker; nothing is allocated by Run and ArriveAndWait.

#ifndef FOOTPRINT_BASE_THREADS_WORKER_TEAM_H_
#define FOOTPRINT_BASE_THREADS_WORKER_TEAM_H_

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "footprint/base/threads/mutex.h"

namespace footprint {

class WorkerTeam {
 public:
  // `workers` is at least 1, the caller included. If the system starts no more
  // threads, the team is smaller: see size().
  explicit WorkerTeam(int workers);
  ~WorkerTeam();
  WorkerTeam(const WorkerTeam&) = delete;
  WorkerTeam& operator=(const WorkerTeam&) = delete;

  int size() const { return static_cast<int>(threads_.size()) + 1; }

  // Calls job(worker) once on every worker and returns when all have returned.
  void Run(absl::FunctionRef<void(int worker)> job);

  // Inside a job: returns when every worker has called it as often as this one.
  // Writes of a worker before the call are visible to all after it.
  void ArriveAndWait();

 private:
  void Work(int worker);

  std::vector<std::thread> threads_;
  Mutex mutex_;
  CondVar run_or_end_;
  CondVar idle_;
  int64_t runs_ ABSL_GUARDED_BY(mutex_) = 0;
  int busy_ ABSL_GUARDED_BY(mutex_) = 0;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  const absl::FunctionRef<void(int)>* job_ ABSL_GUARDED_BY(mutex_) = nullptr;

  std::atomic<int> arrived_{0};
  std::atomic<uint32_t> barrier_phase_{0};
};

}  // namespace footprint

#endif  // FOOTPRINT_BASE_THREADS_WORKER_TEAM_H_
