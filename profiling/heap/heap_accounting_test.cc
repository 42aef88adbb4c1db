// Compiled twice: with exact_heap, and with exact_heap_with_requested_bytes,
// which must count the same usable bytes and also requested bytes.

#include "footprint/profiling/heap/heap_accounting.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <thread>
#include <vector>

#include "footprint/profiling/heap/allocation_trace.h"
#include "footprint/profiling/heap/opaque_block.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

// Ends a child that hangs, so that the test does not hang. On a busy machine a
// second's work may take many.
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

// Steps are small, so the threads stay below their thresholds most of the time.
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

// Covers the usual path: one thread, which checks only where its peak may grow.
// The truth is kept in memory that exists already.
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

// Each call, however few bytes it requests, uses up part of the budget below
// the peak within which the thread makes no check. malloc has a path of its
// own.
TEST(HeapAccountingTest, ManySmallestBlocksPassAnEarlierPeak) {
  constexpr int kBlockCount = 200'000;
  constexpr int64_t kBlockBytes = 8;
  std::vector<void*> blocks(kBlockCount);
  void* (*const allocate[])() = {[] { return std::malloc(1); },
                                 [] { return std::calloc(1, 1); }};
  for (void* (*const one)() : allocate) {
    const HeapPhase phase = BeginHeapPhase();
    std::free(Opaque(std::malloc(kBlockCount * kBlockBytes / 2)));
    for (void*& block : blocks) block = Opaque(one());
    for (void* block : blocks) std::free(block);
    EXPECT_EQ(EndHeapPhase(phase).peak_live_net_bytes,
              kBlockCount * kBlockBytes);
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
  // From the phase's start, live bytes rise by 1 MiB, fall by 1 MiB and rise by
  // 2.
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
  // The block was live before the phase, so only its copy adds to the peak.
  EXPECT_EQ(bytes.peak_live_net_bytes, 1 << 22);
  EXPECT_EQ(bytes.net_growth_bytes, (1 << 22) - (1 << 10));
}

// Threads run freely. Each holds `kTop` bytes at a moment that all share, and
// never more, so the true peak is known although the order of calls is not.
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
    // The work is divided statically, so the bound repeats to the byte.
    EXPECT_EQ(bytes.sum_thread_peak_net_bytes, truth);
    pthread_barrier_destroy(&barrier);
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, FreeRunningTest,
                         testing::Values(2, 3, 8, 16));

// Makes the kernel refuse membarrier to this process and its descendants.
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

// jemalloc would start background threads inside the first allocation of the
// process.
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

TEST(HeapAccountingDeathTest, TooManyOpenPhasesSaysSo) {
  EXPECT_DEATH(
      {
        for (int i = 0; i < 40; ++i) BeginHeapPhase();
      },
      "more than 32 heap phases");
}

}  // namespace
}  // namespace footprint
