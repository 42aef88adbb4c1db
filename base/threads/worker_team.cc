#include "footprint/base/threads/worker_team.h"

#include <new>
#include <system_error>

namespace footprint {
namespace {

// Spins of about ten microseconds: longer than the others are usually late, and
// shorter than a switch to another program and back.
constexpr int kLooks = 4000;

}  // namespace

WorkerTeam::WorkerTeam(int workers) {
  // The caller learns from size() that fewer threads started.
  try {
    // A reallocation that fails would destroy threads that run.
    threads_.reserve(static_cast<size_t>(workers) - 1);
    for (int worker = 1; worker < workers; ++worker) {
      threads_.emplace_back([this, worker] { Work(worker); });
    }
  } catch (const std::system_error&) {
  } catch (const std::bad_alloc&) {
  }
}

WorkerTeam::~WorkerTeam() {
  {
    MutexLock lock(&mutex_);
    ended_ = true;
  }
  run_or_end_.NotifyAll();
  for (std::thread& thread : threads_) thread.join();
}

void WorkerTeam::Run(absl::FunctionRef<void(int worker)> job) {
  {
    MutexLock lock(&mutex_);
    job_ = &job;
    busy_ = static_cast<int>(threads_.size());
    ++runs_;
  }
  run_or_end_.NotifyAll();
  job(0);
  MutexLock lock(&mutex_);
  while (busy_ != 0) idle_.Wait(&mutex_);
}

void WorkerTeam::Work(int worker) {
  int64_t runs = 0;
  while (true) {
    const absl::FunctionRef<void(int)>* job;
    {
      MutexLock lock(&mutex_);
      while (!ended_ && runs_ == runs) run_or_end_.Wait(&mutex_);
      if (ended_) return;
      runs = runs_;
      job = job_;
    }
    (*job)(worker);
    MutexLock lock(&mutex_);
    if (--busy_ == 0) idle_.NotifyOne();
  }
}

void WorkerTeam::ArriveAndWait() {
  const uint32_t phase = barrier_phase_.load(std::memory_order_acquire);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == size()) {
    arrived_.store(0, std::memory_order_relaxed);
    barrier_phase_.store(phase + 1, std::memory_order_release);
    return;
  }
  for (int looks = 0; barrier_phase_.load(std::memory_order_acquire) == phase;
       ++looks) {
    if (looks >= kLooks) std::this_thread::yield();
  }
}

}  // namespace footprint
