#include "footprint/base/threads/mutex.h"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace footprint {
namespace {

// This is the header's example.
class Counter {
 public:
  void Add(int64_t bytes) {
    MutexLock lock(&mutex_);
    bytes_ += bytes;
    changed_.NotifyAll();
  }
  void AwaitBytes(int64_t bytes) {
    MutexLock lock(&mutex_);
    while (bytes_ < bytes) changed_.Wait(&mutex_);
  }
  int64_t bytes() {
    MutexLock lock(&mutex_);
    return bytes_;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  int64_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

// Returns whether another thread can lock it now; otherwise the caller holds
// it.
bool IsFree(Mutex* mutex) ABSL_NO_THREAD_SAFETY_ANALYSIS {
  std::atomic<bool> is_locked{false};
  std::thread other([&] {
    mutex->Lock();
    is_locked = true;
    mutex->Unlock();
  });
  for (int look = 0; look < 50 && !is_locked; ++look) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const bool was_free = is_locked;
  // This lets the other thread end.
  if (!was_free) mutex->Unlock();
  other.join();
  if (!was_free) mutex->Lock();
  return was_free;
}

TEST(MutexTest, KeepsThreadsApart) {
  Counter counter;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&counter] {
      for (int k = 0; k < 10000; ++k) counter.Add(1);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counter.bytes(), 40000);
}

TEST(MutexTest, ALockHoldsItToTheEndOfItsScope) {
  Mutex mutex;
  {
    MutexLock lock(&mutex);
    EXPECT_FALSE(IsFree(&mutex));
  }
  EXPECT_TRUE(IsFree(&mutex));
}

TEST(MutexUnlockTest, GivesItUpForTheLengthOfAScope) {
  Mutex mutex;
  MutexLock lock(&mutex);
  {
    MutexUnlock unlock(&mutex);
    EXPECT_TRUE(IsFree(&mutex));
  }
  EXPECT_FALSE(IsFree(&mutex));
}

TEST(MutexUnlockTest, TakesItAgainWhereTheScopeEndsByAnException) {
  Mutex mutex;
  MutexLock lock(&mutex);
  try {
    MutexUnlock unlock(&mutex);
    throw std::runtime_error("no memory");
  } catch (const std::runtime_error&) {
  }
  EXPECT_FALSE(IsFree(&mutex));
}

TEST(CondVarTest, WakesThoseThatWait) {
  Counter counter;
  std::vector<std::thread> waiting;
  for (int i = 0; i < 3; ++i) {
    waiting.emplace_back([&counter] { counter.AwaitBytes(2); });
  }
  counter.Add(1);
  counter.Add(1);
  for (std::thread& thread : waiting) thread.join();
  EXPECT_EQ(counter.bytes(), 2);
}

TEST(CondVarTest, HoldsTheMutexAfterAWait) {
  Mutex mutex;
  CondVar condition;
  bool is_woken = false;
  MutexLock lock(&mutex);
  std::thread other([&] {
    MutexLock lock(&mutex);
    is_woken = true;
    condition.NotifyOne();
  });
  while (!is_woken) condition.Wait(&mutex);
  other.join();
  EXPECT_FALSE(IsFree(&mutex));
}

TEST(CondVarTest, ACancelledThreadLeavesTheMutexFree) {
  struct Shared {
    Mutex mutex;
    CondVar never;
    std::atomic<bool> waits{false};
  } shared;
  pthread_t thread;
  ASSERT_EQ(pthread_create(
                &thread, nullptr,
                [](void* argument) -> void* {
                  auto* const shared = static_cast<Shared*>(argument);
                  MutexLock lock(&shared->mutex);
                  shared->waits = true;
                  while (true) shared->never.Wait(&shared->mutex);
                },
                &shared),
            0);
  while (!shared.waits) std::this_thread::yield();
  ASSERT_EQ(pthread_cancel(thread), 0);
  ASSERT_EQ(pthread_join(thread, nullptr), 0);
  EXPECT_TRUE(IsFree(&shared.mutex));
}

}  // namespace
}  // namespace footprint
