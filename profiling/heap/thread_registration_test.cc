// Compiled twice: with exact_heap, and with exact_heap_with_requested_bytes,
// which must count the same usable bytes.

#include "footprint/profiling/heap/thread_registration.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "footprint/profiling/heap/heap_accounting.h"
#include "footprint/profiling/heap/opaque_block.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

// Ends a child that hangs, so that the test does not hang. On a busy machine a
// second's work may take many.
constexpr unsigned kHangSeconds = 120;

struct EndingThread {
  static constexpr int kBlockCount = 10;
  void* blocks[kBlockCount] = {};
  pthread_barrier_t* begin = nullptr;
};

TEST(ThreadRegistrationTest, CountsWhatAThreadLeftWhenItEnded) {
  pthread_barrier_t begin;
  pthread_barrier_init(&begin, nullptr, 2);
  EndingThread work;
  work.begin = &begin;
  pthread_t thread;
  ASSERT_EQ(pthread_create(
                &thread, nullptr,
                [](void* argument) -> void* {
                  auto* work = static_cast<EndingThread*>(argument);
                  pthread_barrier_wait(work->begin);
                  for (void*& block : work->blocks) block = malloc(1 << 20);
                  return nullptr;
                },
                &work),
            0);
  const HeapPhase phase = BeginHeapPhase();
  pthread_barrier_wait(&begin);
  pthread_join(thread, nullptr);
  EXPECT_EQ(LiveHeapBytes() > 0, true);
  void* own = Opaque(std::malloc(1 << 20));
  for (void* block : work.blocks) std::free(block);
  void* later = Opaque(std::malloc(1 << 22));
  const HeapPhaseBytes bytes = EndHeapPhase(phase);
  std::free(own);
  std::free(later);
  EXPECT_EQ(bytes.peak_live_net_bytes, (EndingThread::kBlockCount + 1) << 20);
  EXPECT_EQ(bytes.net_growth_bytes, (1 << 20) + (1 << 22));
  pthread_barrier_destroy(&begin);
}

// Calls by destructors of thread-specific data come after the thread's end.
pthread_key_t late_key;
void* late_block = nullptr;

TEST(ThreadRegistrationTest, CountsWhatDestructorsAllocate) {
  pthread_key_create(&late_key, [](void* block) {
    std::free(block);
    late_block = std::malloc(1 << 21);
  });
  const auto run = [] {
    pthread_t thread;
    pthread_create(
        &thread, nullptr,
        [](void*) -> void* {
          pthread_setspecific(late_key, std::malloc(1 << 20));
          return nullptr;
        },
        nullptr);
    pthread_join(thread, nullptr);
  };
  run();  // Leaves out the costs of the first thread.
  std::free(late_block);
  const HeapPhase phase = BeginHeapPhase();
  run();
  const HeapPhaseBytes bytes = EndHeapPhase(phase);
  EXPECT_EQ(bytes.net_growth_bytes, 1 << 21);
  EXPECT_EQ(bytes.peak_live_net_bytes, 1 << 21);
  std::free(late_block);
  pthread_key_delete(late_key);
}

TEST(ThreadRegistrationTest, AThreadThatNeverAllocatesLeavesNoCountersBehind) {
  const auto start = [] {
    pthread_t thread;
    pthread_create(
        &thread, nullptr, [](void*) -> void* { return nullptr; }, nullptr);
    pthread_join(thread, nullptr);
  };
  start();
  // The second thread reuses the storage of the first. Counters that were left
  // behind would be read here.
  for (int i = 0; i < 100; ++i) start();
  const HeapPhase phase = BeginHeapPhase();
  void* block = Opaque(std::malloc(1 << 20));
  const HeapPhaseBytes bytes = EndHeapPhase(phase);
  std::free(block);
  EXPECT_EQ(bytes.peak_live_net_bytes, 1 << 20);
  EXPECT_EQ(bytes.active_thread_count, 1);
}

TEST(ThreadRegistrationTest, AThreadThatOnlyWaitsIsNotActive) {
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, nullptr, 2);
  std::thread waiting([&barrier] {
    void* block = Opaque(std::malloc(100));
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    std::free(block);
  });
  pthread_barrier_wait(&barrier);
  const HeapPhase phase = BeginHeapPhase();
  std::free(Opaque(std::malloc(1 << 20)));
  EXPECT_EQ(ReadHeapPhase(phase).active_thread_count, 1);
  pthread_barrier_wait(&barrier);
  waiting.join();
  EXPECT_EQ(EndHeapPhase(phase).active_thread_count, 2);
  pthread_barrier_destroy(&barrier);
}

TEST(ThreadRegistrationTest, ForkedChildCountsOnAndParentKnows) {
  const int forks_before = CountedForks();
  const pid_t child = fork();
  if (child == 0) {
    const HeapPhase phase = BeginHeapPhase();
    void* block = Opaque(std::malloc(1 << 20));
    const HeapPhaseBytes bytes = EndHeapPhase(phase);
    std::free(block);
    _exit(bytes.peak_live_net_bytes == 1 << 20 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(CountedForks(), forks_before + 1);
}

// The child reuses storage of threads that did not survive the fork.
TEST(ThreadRegistrationTest, AForkedChildMayStartThreads) {
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, nullptr, 2);
  std::thread other([&barrier] {
    void* block = Opaque(std::malloc(100));
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    std::free(block);
  });
  pthread_barrier_wait(&barrier);
  const pid_t child = fork();
  if (child == 0) {
    alarm(kHangSeconds);
    for (int i = 0; i < 20; ++i) {
      std::thread([] { std::free(Opaque(std::malloc(1 << 20))); }).join();
    }
    const HeapPhase phase = BeginHeapPhase();
    std::free(Opaque(std::malloc(1 << 20)));
    const HeapPhaseBytes bytes = EndHeapPhase(phase);
    _exit(bytes.peak_live_net_bytes == 1 << 20 ? 0 : 1);
  }
  pthread_barrier_wait(&barrier);
  other.join();
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  pthread_barrier_destroy(&barrier);
}

// A fork takes the locks of mmap in the order in which mmap takes them.
TEST(ThreadRegistrationTest, ForksWhileAnotherThreadMaps) {
  const pid_t tester = fork();
  if (tester == 0) {
    alarm(kHangSeconds);
    std::atomic<bool> done{false};
    std::thread mapping([&done] {
      while (!done) {
        munmap(
            mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
            4096);
      }
    });
    for (int i = 0; i < 1000; ++i) {
      const pid_t child = fork();
      if (child == 0) _exit(0);
      waitpid(child, nullptr, 0);
    }
    done = true;
    mapping.join();
    _exit(0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(tester, &status, 0), tester);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace footprint
