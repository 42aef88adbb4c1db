#include "footprint/lowmem/worker_team.h"

namespace footprint {
namespace {

// About ten microseconds: longer than the others are usually late by, shorter
// than it takes to switch to another program and back.
constexpr int kLooks = 4000;

}  // namespace

WorkerTeam::WorkerTeam(int workers) {
  for (int worker = 1; worker < workers; ++worker) {
    threads_.emplace_back([this, worker] { Work(worker); });
  }
}

WorkerTeam::~WorkerTeam() {
  {
    absl::MutexLock lock(&mutex_);
    ended_ = true;
  }
  for (std::thread& thread : threads_) thread.join();
}

void WorkerTeam::Run(absl::FunctionRef<void(int worker)> job) {
  {
    absl::MutexLock lock(&mutex_);
    job_ = &job;
    busy_ = static_cast<int>(threads_.size());
    ++runs_;
  }
  job(0);
  absl::MutexLock lock(&mutex_);
  mutex_.Await(absl::Condition(
      +[](int* busy) { return *busy == 0; }, &busy_));
}

void WorkerTeam::Work(int worker) {
  struct Wait {
    WorkerTeam* team;
    int64_t runs;
  } wait = {this, 0};
  while (true) {
    const absl::FunctionRef<void(int)>* job;
    {
      absl::MutexLock lock(&mutex_);
      mutex_.Await(absl::Condition(
          +[](Wait* w) ABSL_NO_THREAD_SAFETY_ANALYSIS {
            return w->team->ended_ || w->team->runs_ != w->runs;
          },
          &wait));
      if (ended_) return;
      wait.runs = runs_;
      job = job_;
    }
    (*job)(worker);
    absl::MutexLock lock(&mutex_);
    --busy_;
  }
}

void WorkerTeam::Meet() {
  const uint32_t meeting = meetings_.load(std::memory_order_acquire);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == size()) {
    arrived_.store(0, std::memory_order_relaxed);
    meetings_.store(meeting + 1, std::memory_order_release);
    return;
  }
  for (int looks = 0; meetings_.load(std::memory_order_acquire) == meeting;
       ++looks) {
    if (looks >= kLooks) std::this_thread::yield();
  }
}

}  // namespace footprint
