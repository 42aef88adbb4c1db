// Compiled twice: with exact_heap, and with exact_heap_with_requested_bytes,
// which must count the same usable bytes and requested bytes besides.

#include "footprint/profiling/heap/heap_accounting.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "footprint/profiling/heap/allocation_trace.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

// Keeps the compiler from seeing that a block is not used.
void* Opaque(void* block) {
  asm volatile("" : "+r"(block) : : "memory");
  return block;
}

// A child that hangs must not hang the test. On a busy machine, what takes a
// second here may take many.
constexpr unsigned kHangSeconds = 120;

HeapPhaseBytes MeasureTrace(const AllocationTrace& trace, TruePeak* truth) {
  TraceRunner runner(trace);
  const HeapPhase phase = BeginHeapPhase();
  *truth = runner.Run();
  return EndHeapPhase(phase);
}

void ExpectEqualToTruth(const HeapPhaseBytes& bytes, const TruePeak& truth) {
  EXPECT_EQ(bytes.peak_live_net_bytes, truth.peak_usable_bytes);
  EXPECT_EQ(bytes.sum_thread_peak_net_bytes,
            truth.sum_thread_peak_usable_bytes);
  EXPECT_EQ(bytes.allocated_bytes, truth.allocated_usable_bytes);
  EXPECT_EQ(bytes.allocation_count, truth.allocation_count);
  EXPECT_EQ(bytes.net_growth_bytes, truth.net_growth_usable_bytes);
  if (RequestedBytesAreCounted()) {
    EXPECT_EQ(bytes.peak_live_requested_net_bytes, truth.peak_requested_bytes);
  }
}

TEST(HeapAccountingTest, CountsThisProcess) { EXPECT_TRUE(HeapIsAccounted()); }

class TraceTest : public testing::TestWithParam<int> {};

TEST_P(TraceTest, EqualsTheTruePeakToTheByte) {
  const int thread_count = GetParam();
  for (uint32_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    TruePeak truth;
    const HeapPhaseBytes bytes =
        MeasureTrace(RandomTrace(seed, thread_count, 600), &truth);
    ExpectEqualToTruth(bytes, truth);
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, TraceTest,
                         testing::Values(1, 2, 3, 4, 8, 16));

// Small steps: the threads stay between their thresholds most of the time.
TEST(HeapAccountingTest, IsExactWhereEveryBlockIsSmallerThanTheHysteresis) {
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    AllocationTrace trace = RandomTrace(seed, 4, 2000);
    for (TraceStep& step : trace.steps) step.size_bytes %= 200;
    TruePeak truth;
    const HeapPhaseBytes bytes = MeasureTrace(trace, &truth);
    ExpectEqualToTruth(bytes, truth);
  }
}

TEST(HeapAccountingTest, SeesOneSmallestBlockMore) {
  const auto measure = [](bool one_more) {
    void* blocks[3];
    const HeapPhase phase = BeginHeapPhase();
    blocks[0] = Opaque(std::malloc(100000));
    blocks[1] = one_more ? Opaque(std::malloc(1)) : nullptr;
    blocks[2] = Opaque(std::malloc(50000));
    const HeapPhaseBytes bytes = EndHeapPhase(phase);
    for (void* block : blocks) std::free(block);
    return bytes;
  };
  EXPECT_EQ(
      measure(true).peak_live_net_bytes - measure(false).peak_live_net_bytes,
      8);
  EXPECT_EQ(measure(true).allocation_count, 3);
}

// The way of most programs: one thread, which is looked at only where its peak
// may grow. The truth is kept beside it, in memory that is there already.
TEST(HeapAccountingTest, TheOnlyThreadIsExactToTheSmallestBlock) {
  static void* blocks[64];
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    std::minstd_rand random(seed);
    int64_t live = 0, peak = 0;
    const HeapPhase phase = BeginHeapPhase();
    for (int step = 0; step < 500; ++step) {
      void** block = &blocks[random() % 64];
      live -= static_cast<int64_t>(malloc_usable_size(*block));
      std::free(*block);
      *block =
          random() % 3 == 0 ? nullptr : Opaque(std::malloc(1 + random() % 100));
      live += static_cast<int64_t>(malloc_usable_size(*block));
      peak = std::max(peak, live);
    }
    for (void*& block : blocks) {
      std::free(block);
      block = nullptr;
    }
    EXPECT_EQ(EndHeapPhase(phase).peak_live_net_bytes, peak) << "seed " << seed;
  }
}

TEST(HeapAccountingTest, PhasesNestAndOverlap) {
  const HeapPhase outer = BeginHeapPhase();
  void* first = Opaque(std::malloc(1 << 20));
  const HeapPhase inner = BeginHeapPhase();
  void* second = Opaque(std::malloc(1 << 20));
  std::free(first);
  const HeapPhaseBytes outer_bytes = EndHeapPhase(outer);
  void* third = Opaque(std::malloc(1 << 21));
  std::free(second);
  std::free(third);
  const HeapPhaseBytes inner_bytes = EndHeapPhase(inner);
  EXPECT_EQ(outer_bytes.peak_live_net_bytes, 2 << 20);
  EXPECT_EQ(outer_bytes.net_growth_bytes, 1 << 20);
  // From its begin: plus 1 MiB, less 1, plus 2.
  EXPECT_EQ(inner_bytes.peak_live_net_bytes, 2 << 20);
  EXPECT_EQ(inner_bytes.net_growth_bytes, -(1 << 20));
  EXPECT_EQ(inner_bytes.peak_live_absolute_bytes -
                outer_bytes.peak_live_absolute_bytes,
            1 << 20);
}

TEST(HeapAccountingTest, APeakBeforeAPhaseIsNotInIt) {
  std::free(Opaque(std::malloc(1 << 24)));
  const HeapPhase phase = BeginHeapPhase();
  void* block = Opaque(std::malloc(1 << 16));
  std::free(block);
  EXPECT_EQ(EndHeapPhase(phase).peak_live_net_bytes, 1 << 16);
}

TEST(HeapAccountingTest, AMovedBlockCountsTwiceForTheMoment) {
  void* block = Opaque(std::malloc(1 << 10));
  const HeapPhase phase = BeginHeapPhase();
  block = Opaque(std::realloc(block, 1 << 22));
  const HeapPhaseBytes bytes = EndHeapPhase(phase);
  std::free(block);
  // The block was live before the phase: its copy is what came on top.
  EXPECT_EQ(bytes.peak_live_net_bytes, 1 << 22);
  EXPECT_EQ(bytes.net_growth_bytes, (1 << 22) - (1 << 10));
}

struct EndingThread {
  static constexpr int kBlockCount = 10;
  void* blocks[kBlockCount] = {};
  pthread_barrier_t* begin = nullptr;
};

TEST(HeapAccountingTest, CountsWhatAThreadLeftWhenItEnded) {
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

// What destructors of thread-specific data do comes after the counters is
// closed.
pthread_key_t late_key;
void* late_block = nullptr;

TEST(HeapAccountingTest, CountsWhatDestructorsAllocate) {
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
  run();  // what the first thread of a kind costs stays outside
  std::free(late_block);
  const HeapPhase phase = BeginHeapPhase();
  run();
  const HeapPhaseBytes bytes = EndHeapPhase(phase);
  EXPECT_EQ(bytes.net_growth_bytes, 1 << 21);
  EXPECT_EQ(bytes.peak_live_net_bytes, 1 << 21);
  std::free(late_block);
  pthread_key_delete(late_key);
}

TEST(HeapAccountingTest, AThreadThatNeverAllocatesLeavesNoCountersBehind) {
  const auto start = [] {
    pthread_t thread;
    pthread_create(
        &thread, nullptr, [](void*) -> void* { return nullptr; }, nullptr);
    pthread_join(thread, nullptr);
  };
  start();
  // Its storage is used anew by the second: a stale counters would be read
  // here.
  for (int i = 0; i < 100; ++i) start();
  const HeapPhase phase = BeginHeapPhase();
  void* block = Opaque(std::malloc(1 << 20));
  const HeapPhaseBytes bytes = EndHeapPhase(phase);
  std::free(block);
  EXPECT_EQ(bytes.peak_live_net_bytes, 1 << 20);
  EXPECT_EQ(bytes.active_thread_count, 1);
}

TEST(HeapAccountingTest, AThreadThatOnlyWaitsIsNotActive) {
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

// Threads that create and join order.

constexpr int64_t kThreadBytes = 300 << 10;  // the allocator hands out more
// std::thread's own, and what the C library keeps for a thread.
constexpr int64_t kThreadCostBytes = 4096;

void HoldForAMoment() { std::free(Opaque(std::malloc(kThreadBytes))); }

int64_t HeldBytes() {
  void* block = Opaque(std::malloc(kThreadBytes));
  const int64_t bytes = static_cast<int64_t>(malloc_usable_size(block));
  std::free(block);
  return bytes;
}

// What `run` needs, the second time: what threads cost for the first time is
// outside.
template <typename Run>
HeapPhaseBytes MeasureThreads(Run run) {
  run();
  const HeapPhase phase = BeginHeapPhase();
  run();
  return EndHeapPhase(phase);
}

TEST(ThreadOrderTest, ThreadsOneAfterAnotherCannotOverlap) {
  const HeapPhaseBytes bytes = MeasureThreads([] {
    for (int i = 0; i < 4; ++i) std::thread(HoldForAMoment).join();
  });
  EXPECT_FALSE(bytes.threads_may_overlap);
  EXPECT_EQ(bytes.active_thread_count, 5);
  EXPECT_GE(bytes.peak_live_net_bytes, HeldBytes());
  EXPECT_GE(bytes.sum_thread_peak_net_bytes, bytes.peak_live_net_bytes);
  EXPECT_LE(bytes.sum_thread_peak_net_bytes, HeldBytes() + kThreadCostBytes);
}

TEST(ThreadOrderTest, AThreadThatWasJoinedAtOnceOverlapsWithNothingAfterIt) {
  const HeapPhaseBytes bytes = MeasureThreads([] {
    HoldForAMoment();
    std::thread(HoldForAMoment).join();
    HoldForAMoment();
  });
  EXPECT_FALSE(bytes.threads_may_overlap);
  EXPECT_LE(bytes.sum_thread_peak_net_bytes, HeldBytes() + kThreadCostBytes);
}

TEST(ThreadOrderTest, ThreadsInPairsOverlapInPairs) {
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

TEST(ThreadOrderTest, ACreatorThatAllocatesMeanwhileOverlaps) {
  const HeapPhaseBytes bytes = MeasureThreads([] {
    std::thread thread(HoldForAMoment);
    HoldForAMoment();
    thread.join();
  });
  EXPECT_TRUE(bytes.threads_may_overlap);
  EXPECT_GE(bytes.sum_thread_peak_net_bytes, 2 * HeldBytes());
}

// What a thread leaves is live beside the next.
TEST(ThreadOrderTest, CountsWhatAThreadLeft) {
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

TEST(ThreadOrderTest, TurnsTakenByLocksMayBeTakenOtherwise) {
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
  // And yet it is right to the byte.
  EXPECT_LE(bytes.peak_live_net_bytes, HeldBytes() + kThreadCostBytes);
}

TEST(ThreadOrderTest, AThreadBelowAThreadIsOrderedWithIt) {
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

TEST(ThreadOrderTest, EveryJoinOrders) {
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

// Detached, or joined by another thread than its creator: nothing is known.
TEST(ThreadOrderTest, AThreadThatItsCreatorDoesNotJoinMayOverlap) {
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

// The peak of what is mapped depends on their order, too.
TEST(ThreadOrderTest, ThreadsThatOnlyMapMayOverlap) {
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

TEST(ThreadOrderTest, ACreationThatFailsLeavesNothing) {
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

// Any thread may do anything of this at any time.
TEST(ThreadOrderTest, ManyThreadsCreateJoinAndDetachAtOnce) {
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

// Threads that run freely: each holds `kTop` bytes at a moment that all share,
// and never more, so the true peak is known although the order of calls is not.
class FreeRunningTest : public testing::TestWithParam<int> {};

struct Climber {
  static constexpr int64_t kBlockBytes = 1 << 16;
  static constexpr int kBlockCount = 32;
  pthread_barrier_t* barrier = nullptr;
  uint32_t seed = 0;
  void* blocks[kBlockCount] = {};

  void Climb() {
    pthread_barrier_wait(barrier);
    for (int step = 0; step < 3000; ++step) {
      seed = seed * 1664525 + 1013904223;
      void*& block = blocks[(seed >> 16) % kBlockCount];
      if (block == nullptr) {
        block = Opaque(std::malloc(kBlockBytes));
      } else {
        std::free(block);
        block = nullptr;
      }
    }
    for (void*& block : blocks) {
      if (block == nullptr) block = Opaque(std::malloc(kBlockBytes));
    }
    pthread_barrier_wait(barrier);
    for (void*& block : blocks) {
      std::free(block);
      block = Opaque(std::malloc(kBlockBytes / 2));
    }
    for (void* block : blocks) std::free(block);
  }
};

TEST_P(FreeRunningTest, IsWithinFourKibibytesAThread) {
  const int thread_count = GetParam();
  for (int round = 0; round < 5; ++round) {
    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, nullptr,
                         static_cast<unsigned>(thread_count) + 1);
    std::vector<Climber> climbers(static_cast<size_t>(thread_count));
    std::vector<std::thread> threads;
    for (Climber& climber : climbers) {
      climber.barrier = &barrier;
      climber.seed = static_cast<uint32_t>(threads.size()) * 77 + 1;
      threads.emplace_back([&climber] { climber.Climb(); });
    }
    const HeapPhase phase = BeginHeapPhase();
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    for (std::thread& thread : threads) thread.join();
    const HeapPhaseBytes bytes = EndHeapPhase(phase);
    const int64_t truth =
        thread_count * Climber::kBlockCount * Climber::kBlockBytes;
    EXPECT_NEAR(static_cast<double>(bytes.peak_live_net_bytes),
                static_cast<double>(truth), 4096.0 * thread_count);
    // Statically divided work: the bound repeats to the byte.
    EXPECT_EQ(bytes.sum_thread_peak_net_bytes, truth);
    pthread_barrier_destroy(&barrier);
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, FreeRunningTest,
                         testing::Values(2, 3, 8, 16));

TEST(HeapAccountingTest, ForkedChildCountsOnAndParentKnows) {
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

// Storage of a thread that did not survive the fork is used anew.
TEST(HeapAccountingTest, AForkedChildMayStartThreads) {
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
TEST(HeapAccountingTest, ForksWhileAnotherThreadMaps) {
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

// Makes the kernel refuse membarrier to this process and all it becomes.
bool RefuseMembarrier() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST(HeapAccountingTest, IsExactWhereTheKernelRefusesMembarrier) {
  const pid_t child = fork();
  if (child == 0) {
    if (!RefuseMembarrier()) _exit(2);
    execl("/proc/self/exe", "heap_accounting_test",
          "--gtest_filter=*TraceTest*:*FreeRunning*:*Phases*", nullptr);
    _exit(3);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

// jemalloc would start them inside the first allocation of the process.
TEST(HeapAccountingTest, IsExactThoughBackgroundThreadsAreAskedFor) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(kHangSeconds);
    setenv("MALLOC_CONF", "background_thread:true", /*replace=*/1);
    execl("/proc/self/exe", "heap_accounting_test",
          "--gtest_filter=*TraceTest*:*Phases*", nullptr);
    _exit(3);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(HeapAccountingTest, MappedBytesAreCountedApart) {
  const HeapPhase phase = BeginHeapPhase();
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* first =
      mmap(nullptr, 10 * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(first, MAP_FAILED);
  munmap(first, 4 * page);
  void* second = mmap(nullptr, 2 * page - 1, PROT_READ,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  second = mremap(second, 2 * page, 7 * page, MREMAP_MAYMOVE);
  ASSERT_NE(second, MAP_FAILED);
  munmap(second, 7 * page);
  munmap(static_cast<char*>(first) + 4 * page, 6 * page);
  const HeapPhaseBytes bytes = EndHeapPhase(phase);
  EXPECT_EQ(bytes.peak_mapped_net_bytes, static_cast<int64_t>(13 * page));
  EXPECT_EQ(bytes.peak_live_net_bytes, 0);
}

// The old range stays mapped, without its pages.
TEST(HeapAccountingTest, AMappingThatIsMovedAndKeptCountsTwice) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const HeapPhase phase = BeginHeapPhase();
  void* first =
      mmap(nullptr, 3 * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(first, MAP_FAILED);
  void* second = mremap(first, 3 * page, 3 * page,
                        MREMAP_MAYMOVE | MREMAP_DONTUNMAP, nullptr);
  ASSERT_NE(second, MAP_FAILED) << "needs Linux 5.7 or newer";
  EXPECT_EQ(ReadHeapPhase(phase).peak_mapped_net_bytes,
            static_cast<int64_t>(6 * page));
  // To an address that is chosen, over a page that is mapped.
  void* third = mremap(second, 3 * page, 3 * page,
                       MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP, first);
  ASSERT_EQ(third, first);
  munmap(first, 3 * page);
  munmap(second, 3 * page);
  // All is counted back: what is mapped now makes no new mark but its own.
  void* fourth =
      mmap(nullptr, 7 * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(fourth, 7 * page);
  EXPECT_EQ(EndHeapPhase(phase).peak_mapped_net_bytes,
            static_cast<int64_t>(7 * page));
}

TEST(HeapAccountingTest, OutOfMemoryIsReportedAndNotCounted) {
  const HeapPhase phase = BeginHeapPhase();
  volatile size_t too_much = SIZE_MAX / 4;  // unknown to the compiler
  EXPECT_EQ(Opaque(std::malloc(too_much)), nullptr);
  EXPECT_EQ(Opaque(std::calloc(too_much, 8)), nullptr);
  EXPECT_EQ(Opaque(::operator new(too_much, std::nothrow)), nullptr);
  void* block = Opaque(std::malloc(64));
  EXPECT_EQ(Opaque(std::realloc(block, too_much)), nullptr);
  std::free(block);
  const HeapPhaseBytes bytes = EndHeapPhase(phase);
  EXPECT_EQ(bytes.peak_live_net_bytes, 64);
  EXPECT_THROW(Opaque(::operator new(too_much)), std::bad_alloc);
}

// A product or a rounding that wraps around must not end as a small block.
TEST(HeapAccountingTest, SizesThatOverflowAreOutOfMemory) {
  volatile size_t half = SIZE_MAX / 2 + 1;  // unknown to the compiler
  volatile size_t all = SIZE_MAX;
  const HeapPhase phase = BeginHeapPhase();
  errno = 0;
  EXPECT_EQ(Opaque(reallocarray(nullptr, half, 2)), nullptr);
  EXPECT_EQ(errno, ENOMEM);
  errno = 0;
  EXPECT_EQ(Opaque(calloc(half, 2)), nullptr);
  EXPECT_EQ(errno, ENOMEM);
  errno = 0;
  EXPECT_EQ(Opaque(pvalloc(all)), nullptr);
  EXPECT_EQ(errno, ENOMEM);
  const HeapPhaseBytes bytes = EndHeapPhase(phase);
  EXPECT_EQ(bytes.peak_live_net_bytes, 0);
  EXPECT_EQ(bytes.net_growth_bytes, 0);
}

TEST(HeapAccountingTest, OperatorNewAsksTheHandler) {
  static int calls = 0;
  std::set_new_handler([] {
    if (++calls == 3) std::set_new_handler(nullptr);
  });
  EXPECT_EQ(::operator new(SIZE_MAX / 4, std::nothrow), nullptr);
  EXPECT_EQ(calls, 3);
}

TEST(HeapAccountingDeathTest, TooManyOpenPhasesSaysSo) {
  EXPECT_DEATH(
      {
        for (int i = 0; i < 40; ++i) BeginHeapPhase();
      },
      "more than 32 heap phases");
}

}  // namespace
}  // namespace footprint
