#include "footprint/base/threads/pthread_mutex.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <thread>
#include <type_traits>
#include <vector>

#include "gtest/gtest.h"

namespace footprint {
namespace {

// This is the header's example.
PthreadMutex lock = PthreadMutex::Adaptive();
int64_t live_bytes ABSL_GUARDED_BY(lock) = 0;

void Add(int64_t bytes) {
  PthreadMutexLock guard(&lock);
  live_bytes += bytes;
}

static_assert(std::is_trivially_destructible_v<PthreadMutex>);
static_assert(sizeof(PthreadMutex) == sizeof(pthread_mutex_t));
// These need no code before main.
constexpr PthreadMutex kPlain;
constexpr PthreadMutex kAdaptive = PthreadMutex::Adaptive();

bool OtherThreadCanLock(PthreadMutex* mutex) {
  bool can_lock = false;
  std::thread([&] {
    if (!mutex->TryLock()) return;
    can_lock = true;
    mutex->Unlock();
  }).join();
  return can_lock;
}

int Kind(const PthreadMutex& mutex) {
  return reinterpret_cast<const pthread_mutex_t*>(&mutex)->__data.__kind;
}

TEST(PthreadMutexTest, IsOfTheKindThatIsAskedFor) {
  EXPECT_EQ(Kind(kPlain), PTHREAD_MUTEX_TIMED_NP);
  EXPECT_EQ(Kind(kAdaptive), PTHREAD_MUTEX_ADAPTIVE_NP);
}

// ThreadSanitizer treats a lock that is reset in place as held.
#ifndef __SANITIZE_THREAD__
// Locks the mutex like a thread that does not exist in a child process.
void LockForGood(PthreadMutex* mutex) ABSL_NO_THREAD_SAFETY_ANALYSIS {
  mutex->Lock();
}

TEST(PthreadMutexTest, IsFreeAfterAReset) {
  PthreadMutex mutex = PthreadMutex::Adaptive();
  LockForGood(&mutex);
  mutex.ResetInChild();
  EXPECT_TRUE(OtherThreadCanLock(&mutex));
  EXPECT_EQ(Kind(mutex), PTHREAD_MUTEX_ADAPTIVE_NP);
  mutex.Lock();
  mutex.Unlock();
}
#endif

TEST(PthreadMutexTest, KeepsThreadsApart) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      for (int k = 0; k < 10000; ++k) Add(1);
    });
  }
  for (std::thread& thread : threads) thread.join();
  PthreadMutexLock guard(&lock);
  EXPECT_EQ(live_bytes, 40000);
}

TEST(PthreadMutexTest, ATryFailsWhileAnotherThreadHoldsIt) {
  PthreadMutex mutex;
  mutex.Lock();
  EXPECT_FALSE(OtherThreadCanLock(&mutex));
  mutex.Unlock();
  EXPECT_TRUE(OtherThreadCanLock(&mutex));
}

TEST(PthreadMutexTest, ATryThatSucceedsHoldsIt) {
  PthreadMutex mutex;
  if (!mutex.TryLock()) FAIL();
  EXPECT_FALSE(OtherThreadCanLock(&mutex));
  mutex.Unlock();
}

TEST(PthreadMutexTest, NamesTheThreadThatHoldsIt) {
  PthreadMutex mutex;
  EXPECT_EQ(mutex.owner_thread(), 0);
  mutex.Lock();
  EXPECT_EQ(mutex.owner_thread(), syscall(SYS_gettid));
  mutex.Unlock();
  EXPECT_EQ(mutex.owner_thread(), 0);
}

TEST(PthreadMutexLockTest, HoldsItToTheEndOfItsScope) {
  PthreadMutex mutex;
  {
    PthreadMutexLock guard(&mutex);
    EXPECT_FALSE(OtherThreadCanLock(&mutex));
  }
  EXPECT_TRUE(OtherThreadCanLock(&mutex));
}

}  // namespace
}  // namespace footprint
