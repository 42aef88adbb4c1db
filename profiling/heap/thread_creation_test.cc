// Compiled twice: with exact_heap, and with exact_heap_with_requested_bytes,
// which must count the same usable bytes.

#include "footprint/profiling/heap/thread_creation.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include "footprint/profiling/heap/heap_accounting.h"
#include "footprint/profiling/heap/opaque_block.h"
#include "footprint/profiling/heap/process_counters.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

constexpr int64_t kThreadBytes = 300 << 10;  // The allocator returns more.
// Bytes of std::thread itself, and of what the C library keeps for a thread.
constexpr int64_t kThreadCostBytes = 4096;

void HoldForAMoment() { std::free(Opaque(std::malloc(kThreadBytes))); }

int64_t HeldBytes() {
  void* block = Opaque(std::malloc(kThreadBytes));
  const int64_t bytes = static_cast<int64_t>(malloc_usable_size(block));
  std::free(block);
  return bytes;
}

// Returns the bytes that `run` needs the second time, so that the costs of the
// first threads are left out.
template <typename Run>
HeapPhaseBytes MeasureThreads(Run run) {
  run();
  const HeapPhase phase = BeginHeapPhase();
  run();
  return EndHeapPhase(phase);
}

TEST(ThreadCreationTest, ThreadsOneAfterAnotherCannotOverlap) {
  const HeapPhaseBytes bytes = MeasureThreads([] {
    for (int i = 0; i < 4; ++i) std::thread(HoldForAMoment).join();
  });
  EXPECT_FALSE(bytes.threads_may_overlap);
  EXPECT_EQ(bytes.active_thread_count, 5);
  EXPECT_GE(bytes.peak_live_net_bytes, HeldBytes());
  EXPECT_GE(bytes.sum_thread_peak_net_bytes, bytes.peak_live_net_bytes);
  EXPECT_LE(bytes.sum_thread_peak_net_bytes, HeldBytes() + kThreadCostBytes);
}

TEST(ThreadCreationTest, AThreadThatWasJoinedAtOnceOverlapsWithNothingAfterIt) {
  const HeapPhaseBytes bytes = MeasureThreads([] {
    HoldForAMoment();
    std::thread(HoldForAMoment).join();
    HoldForAMoment();
  });
  EXPECT_FALSE(bytes.threads_may_overlap);
  EXPECT_LE(bytes.sum_thread_peak_net_bytes, HeldBytes() + kThreadCostBytes);
}

TEST(ThreadCreationTest, ThreadsInPairsOverlapInPairs) {
  const HeapPhaseBytes bytes = MeasureThreads([] {
    for (int i = 0; i < 2; ++i) {
      std::thread first(HoldForAMoment);
      std::thread second(HoldForAMoment);
      first.join();
      second.join();
    }
  });
  EXPECT_TRUE(bytes.threads_may_overlap);
  EXPECT_GE(bytes.sum_thread_peak_net_bytes, 2 * HeldBytes());
  EXPECT_LE(bytes.sum_thread_peak_net_bytes,
            2 * HeldBytes() + kThreadCostBytes);
}

TEST(ThreadCreationTest, ACreatorThatAllocatesMeanwhileOverlaps) {
  const HeapPhaseBytes bytes = MeasureThreads([] {
    std::thread thread(HoldForAMoment);
    HoldForAMoment();
    thread.join();
  });
  EXPECT_TRUE(bytes.threads_may_overlap);
  EXPECT_GE(bytes.sum_thread_peak_net_bytes, 2 * HeldBytes());
}

// Blocks that a thread leaves stay live during the next thread.
TEST(ThreadCreationTest, CountsWhatAThreadLeft) {
  std::vector<void*> left(4);
  const auto run = [&left] {
    for (void*& block : left) {
      std::thread([&block] { block = std::malloc(kThreadBytes); }).join();
    }
    for (void* block : left) std::free(block);
  };
  const HeapPhaseBytes bytes = MeasureThreads(run);
  EXPECT_FALSE(bytes.threads_may_overlap);
  EXPECT_GE(bytes.sum_thread_peak_net_bytes, bytes.peak_live_net_bytes);
  EXPECT_GE(bytes.peak_live_net_bytes, 4 * HeldBytes());
  EXPECT_LE(bytes.sum_thread_peak_net_bytes,
            4 * HeldBytes() + kThreadCostBytes);
}

TEST(ThreadCreationTest, TurnsTakenByLocksMayBeTakenOtherwise) {
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, nullptr, 2);
  const HeapPhaseBytes bytes = MeasureThreads([&barrier] {
    std::thread first([&barrier] {
      HoldForAMoment();
      pthread_barrier_wait(&barrier);
    });
    std::thread second([&barrier] {
      pthread_barrier_wait(&barrier);
      HoldForAMoment();
    });
    first.join();
    second.join();
  });
  pthread_barrier_destroy(&barrier);
  EXPECT_TRUE(bytes.threads_may_overlap);
  EXPECT_GE(bytes.sum_thread_peak_net_bytes, 2 * HeldBytes());
  // The peak is still right to the byte.
  EXPECT_LE(bytes.peak_live_net_bytes, HeldBytes() + kThreadCostBytes);
}

TEST(ThreadCreationTest, AThreadBelowAThreadIsOrderedWithIt) {
  const HeapPhaseBytes bytes = MeasureThreads([] {
    for (int i = 0; i < 2; ++i) {
      std::thread([] {
        HoldForAMoment();
        std::thread(HoldForAMoment).join();
      }).join();
    }
  });
  EXPECT_FALSE(bytes.threads_may_overlap);
  EXPECT_LE(bytes.sum_thread_peak_net_bytes, HeldBytes() + kThreadCostBytes);
}

TEST(ThreadCreationTest, EveryJoinOrders) {
  const auto run_and = [](int (*join)(pthread_t)) {
    for (int i = 0; i < 2; ++i) {
      pthread_t thread;
      pthread_create(
          &thread, nullptr,
          [](void*) -> void* {
            HoldForAMoment();
            return nullptr;
          },
          nullptr);
      while (join(thread) != 0) {
      }
    }
  };
  static constexpr timespec kLater = {int64_t{1} << 40, 0};
  for (int (*join)(pthread_t) : {
           +[](pthread_t thread) { return pthread_join(thread, nullptr); },
           +[](pthread_t thread) {
             return pthread_tryjoin_np(thread, nullptr);
           },
           +[](pthread_t thread) {
             return pthread_timedjoin_np(thread, nullptr, &kLater);
           },
           +[](pthread_t thread) {
             return pthread_clockjoin_np(thread, nullptr, CLOCK_MONOTONIC,
                                         &kLater);
           },
       }) {
    EXPECT_FALSE(MeasureThreads([&] { run_and(join); }).threads_may_overlap);
  }
}

// Nothing is known about a thread that is detached, or joined by a thread other
// than its creator.
TEST(ThreadCreationTest, AThreadThatItsCreatorDoesNotJoinMayOverlap) {
  const auto end_detached = [](bool from_the_begin) {
    std::atomic<bool> is_over{false};
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    if (from_the_begin) {
      pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    }
    pthread_t thread;
    pthread_create(
        &thread, &attributes,
        [](void* is_over) -> void* {
          HoldForAMoment();
          static_cast<std::atomic<bool>*>(is_over)->store(true);
          return nullptr;
        },
        &is_over);
    pthread_attr_destroy(&attributes);
    if (!from_the_begin) pthread_detach(thread);
    while (!is_over) sched_yield();
    HoldForAMoment();
  };
  const auto join_elsewhere = [] {
    std::thread first(HoldForAMoment);
    std::thread second([&first] {
      first.join();
      HoldForAMoment();
    });
    second.join();
  };
  for (const HeapPhaseBytes& bytes :
       {MeasureThreads([&] { end_detached(true); }),
        MeasureThreads([&] { end_detached(false); }),
        MeasureThreads(join_elsewhere)}) {
    EXPECT_TRUE(bytes.threads_may_overlap);
    EXPECT_GE(bytes.sum_thread_peak_net_bytes, 2 * HeldBytes());
  }
}

void MapForAMoment() {
  void* const mapped = mmap(nullptr, kThreadBytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  munmap(mapped, kThreadBytes);
}

// The peak of mapped bytes also depends on the order of threads.
TEST(ThreadCreationTest, ThreadsThatOnlyMapMayOverlap) {
  const auto map = [](void*) -> void* {
    MapForAMoment();
    return nullptr;
  };
  const auto at_once = [map] {
    pthread_t first;
    pthread_t second;
    pthread_create(&first, nullptr, map, nullptr);
    pthread_create(&second, nullptr, map, nullptr);
    pthread_join(first, nullptr);
    pthread_join(second, nullptr);
  };
  const auto in_turn = [map] {
    for (int i = 0; i < 2; ++i) {
      pthread_t thread;
      pthread_create(&thread, nullptr, map, nullptr);
      pthread_join(thread, nullptr);
    }
  };
  EXPECT_TRUE(MeasureThreads(at_once).threads_may_overlap);
  const HeapPhaseBytes bytes = MeasureThreads(in_turn);
  EXPECT_FALSE(bytes.threads_may_overlap);
  EXPECT_GE(bytes.peak_mapped_net_bytes, kThreadBytes);
}

// The only thread checks less often than one of several. The test runs in a
// process of its own, in which no thread was detached.
TEST(ThreadCreationTest, OneThreadIsAloneUntilItCreatesAndAfterItJoined) {
  const pid_t child = fork();
  if (child == 0) {
    const bool is_alone_before = profiling_internal::has_one_thread;
    static bool is_alone_in_thread = true;
    std::thread other(
        [] { is_alone_in_thread = profiling_internal::has_one_thread; });
    const bool is_alone_meanwhile = profiling_internal::has_one_thread;
    other.join();
    const bool is_alone_after = profiling_internal::has_one_thread;
    std::thread([] {}).detach();
    const bool is_alone_beside_detached = profiling_internal::has_one_thread;
    _exit(!is_alone_before           ? 1
          : is_alone_in_thread       ? 2
          : is_alone_meanwhile       ? 3
          : !is_alone_after          ? 4
          : is_alone_beside_detached ? 5
                                     : 0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(ThreadCreationTest, AThreadThatOnlyFreesCounts) {
  constexpr int kCount = 8;
  static void* blocks[kCount];
  const HeapPhaseBytes bytes = MeasureThreads([] {
    for (void*& block : blocks) block = Opaque(std::malloc(kThreadBytes));
    pthread_t thread;
    pthread_create(
        &thread, nullptr,
        [](void*) -> void* {
          for (void* block : blocks) std::free(block);
          return nullptr;
        },
        nullptr);
    pthread_join(thread, nullptr);
    std::free(Opaque(std::malloc(kThreadBytes)));
  });
  EXPECT_EQ(bytes.net_growth_bytes, 0);
  EXPECT_EQ(bytes.peak_live_net_bytes, kCount * HeldBytes());
}

// C11's functions do not report their threads. The test runs in a process of
// its own, because no thread counts as the only one afterwards.
TEST(ThreadCreationTest, AThreadOfWhoseCreationNobodyToldEndsWhatWasGranted) {
  const pid_t child = fork();
  if (child == 0) {
    static pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, nullptr, 2);
    const auto hold = [](void*) {
      void* block = Opaque(std::malloc(3 * kThreadBytes));
      pthread_barrier_wait(&barrier);
      pthread_barrier_wait(&barrier);
      std::free(block);
      return 0;
    };
    const HeapPhase phase = BeginHeapPhase();
    // The second call finds that many bytes may be granted.
    std::free(Opaque(std::malloc(4 * kThreadBytes)));
    std::free(Opaque(std::malloc(8)));
    thrd_t thread;
    thrd_create(&thread, hold, nullptr);
    pthread_barrier_wait(&barrier);
    std::free(Opaque(std::malloc(2 * kThreadBytes)));
    pthread_barrier_wait(&barrier);
    thrd_join(thread, nullptr);
    const bool is_alone = profiling_internal::has_one_thread;
    const int64_t peak_bytes = EndHeapPhase(phase).peak_live_net_bytes;
    _exit(is_alone                                                   ? 1
          : peak_bytes < 5 * kThreadBytes                            ? 2
          : peak_bytes > 5 * kThreadBytes * 5 / 4 + kThreadCostBytes ? 3
                                                                     : 0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(ThreadCreationTest, ACreationThatFailsLeavesNothing) {
  const HeapPhaseBytes bytes = MeasureThreads([] {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, size_t{1} << 50);
    pthread_t thread;
    EXPECT_NE(pthread_create(
                  &thread, &attributes, [](void*) -> void* { return nullptr; },
                  nullptr),
              0);
    pthread_attr_destroy(&attributes);
    std::thread(HoldForAMoment).join();
  });
  EXPECT_FALSE(bytes.threads_may_overlap);
  EXPECT_LE(bytes.sum_thread_peak_net_bytes, HeldBytes() + kThreadCostBytes);
}

// Any thread may do any of this at any time.
TEST(ThreadCreationTest, ManyThreadsCreateJoinAndDetachAtOnce) {
  const HeapPhase phase = BeginHeapPhase();
  std::vector<std::thread> creators;
  std::atomic<int> detached_count{0};
  for (int i = 0; i < 4; ++i) {
    creators.emplace_back([&detached_count, i] {
      for (int round = 0; round < 200; ++round) {
        std::thread thread([] { std::free(Opaque(std::malloc(1000))); });
        if ((round + i) % 3 == 0) {
          thread.join();
          continue;
        }
        ++detached_count;
        std::thread([&detached_count] {
          std::free(Opaque(std::malloc(2000)));
          --detached_count;
        }).detach();
        thread.join();
        if (round % 50 == 0) EndHeapPhase(BeginHeapPhase());
      }
    });
  }
  for (std::thread& creator : creators) creator.join();
  const HeapPhaseBytes bytes = EndHeapPhase(phase);
  EXPECT_TRUE(bytes.threads_may_overlap);
  EXPECT_GE(bytes.sum_thread_peak_net_bytes, bytes.peak_live_net_bytes);
  while (detached_count > 0) sched_yield();
}

}  // namespace
}  // namespace footprint
