#include "footprint/profiling/heap/process_counters.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

#include "footprint/profiling/heap/thread_registration.h"
#include "gtest/gtest.h"

namespace footprint::profiling_internal {
namespace {

constexpr uint64_t kBlockBytes = 1 << 22;

// Counters of threads that this test simulates. The giver has a block; reading
// the counters of `slow` causes a page fault, in whose handler the taker gets
// the block.
struct Bytes {
  uint64_t allocated = 0;
  uint64_t deallocated = 0;
};
Bytes giver = {kBlockBytes, 0};
Bytes taker;
uint64_t* slow_page = nullptr;
int fault_count = 0;

// Runs between the readings of two threads' counters.
void HandBlockOn(int) {
  ++fault_count;
  mprotect(slow_page, 4096, PROT_READ);
  giver.deallocated = kBlockBytes;
  taker.allocated = kBlockBytes;
}

void Count(const uint64_t* allocated, const uint64_t* deallocated,
           ThreadCounters* counters)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(process.lock) {
  counters->summed_allocated_from = allocated;
  counters->summed_deallocated_from = deallocated;
  counters->threshold_bytes.store(0);  // The value of a registered thread.
  counters->next = process.first_thread;
  process.first_thread = counters;
  ++process.thread_count;
}

// Sums while the block changes hands. The order of reading is giver, slow,
// taker, and then the existing threads. Nothing is allocated under the lock.
int64_t SumWhileABlockIsHandedOn(ThreadCounters (&played)[3]) {
  ProcessLock lock;
  ThreadCounters* const first = process.first_thread;
  const int64_t before_bytes = SumLiveBytes(nullptr, 0);
  Count(&taker.allocated, &taker.deallocated, &played[0]);
  Count(&slow_page[0], &slow_page[1], &played[1]);
  Count(&giver.allocated, &giver.deallocated, &played[2]);
  const int64_t sum_bytes = SumLiveBytes(nullptr, 0) - before_bytes;
  process.first_thread = first;
  process.thread_count -= 3;
  return sum_bytes;
}

TEST(ProcessCountersTest, ABlockThatIsHandedOnIsCountedOnce) {
  RegisterThread();
  slow_page = static_cast<uint64_t*>(
      mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(slow_page, MAP_FAILED);
  struct sigaction action = {};
  action.sa_handler = HandBlockOn;
  struct sigaction before = {};
  ASSERT_EQ(sigaction(SIGSEGV, &action, &before), 0);
  static ThreadCounters played[3];
  const int64_t sum_bytes = SumWhileABlockIsHandedOn(played);
  sigaction(SIGSEGV, &before, nullptr);
  EXPECT_EQ(fault_count, 1);
  EXPECT_EQ(sum_bytes, static_cast<int64_t>(kBlockBytes));
  munmap(slow_page, 4096);
}

// Sums giver and restless, in this order. The counter of what restless freed is
// its live bytes at the last reading, so no two readings agree. Its bytes are
// left out of the result.
int64_t BytesBesideOneThatFreesAndFrees(ThreadCounters* giver_counters,
                                        ThreadCounters* restless) {
  ProcessLock lock;
  ThreadCounters* const first = process.first_thread;
  const int64_t before_bytes = SumLiveBytes(nullptr, 0);
  restless->summed_live_bytes = kBlockBytes;
  Count(&kNoBytes,
        reinterpret_cast<const uint64_t*>(&restless->summed_live_bytes),
        restless);
  Count(&giver.allocated, &giver.deallocated, giver_counters);
  const int64_t sum_bytes = SumLiveBytes(nullptr, 0) - before_bytes;
  process.first_thread = first;
  process.thread_count -= 2;
  return sum_bytes - restless->summed_live_bytes;
}

// There is a limit of attempts; the last one counts, while other threads'
// allocations wait.
TEST(ProcessCountersTest, AThreadThatNeverStopsFreeingIsSummedAllTheSame) {
  RegisterThread();
  giver = {3 * kBlockBytes, 0};
  static ThreadCounters played[2];
  EXPECT_EQ(BytesBesideOneThatFreesAndFrees(&played[0], &played[1]),
            static_cast<int64_t>(3 * kBlockBytes));
}

}  // namespace
}  // namespace footprint::profiling_internal
