#include "footprint/memo/pinned_pointer.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace footprint::memo_internal {
namespace {

using Pointer = PinnedPointer<AsymmetricFence>;

// AsymmetricFence with its fences removed.
struct NoFence {
  static constexpr std::memory_order kStore = std::memory_order_release;
  static constexpr std::memory_order kLoad = std::memory_order_acquire;
  static void Light() { std::atomic_signal_fence(std::memory_order_seq_cst); }
  static void Full() { std::atomic_signal_fence(std::memory_order_seq_cst); }
  static void Heavy() { std::atomic_signal_fence(std::memory_order_seq_cst); }
};

TEST(PinnedPointerTest, IsTakenOnlyWhenFree) {
  Pointer pointer;
  int value = 0;
  EXPECT_EQ(pointer.TryPin(), nullptr);
  EXPECT_FALSE(pointer.IsPinned());
  pointer.Publish(&value);
  ASSERT_EQ(pointer.TryPin(), &value);
  EXPECT_TRUE(pointer.IsPinned());
  EXPECT_FALSE(pointer.TryTake());
  ASSERT_EQ(pointer.TryPin(), &value);
  pointer.Unpin();
  EXPECT_FALSE(pointer.TryTake());
  pointer.Unpin();
  EXPECT_TRUE(pointer.TryTake());
  EXPECT_EQ(pointer.TryPin(), nullptr);
  EXPECT_FALSE(pointer.IsPinned());
}

TEST(PinnedPointerTest, PinsMoveBetweenThreadsAndOutliveTheirs) {
  Pointer pointer;
  int value = 0;
  pointer.Publish(&value);
  std::thread([&] { pointer.TryPin(); }).join();
  EXPECT_FALSE(pointer.TryTake());
  std::thread([&] { pointer.Unpin(); }).join();
  EXPECT_TRUE(pointer.TryTake());
}

// Two threads in one row would lose counts from time to time.
TEST(PinnedPointerTest, ThreadsThatLiveTogetherHaveRowsOfTheirOwn) {
  constexpr size_t kThreads = 5;
  Pointer pointer;
  int value = 0;
  pointer.Publish(&value);
  std::vector<int> rows(kThreads);
  std::atomic<size_t> waiting{0};
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      pointer.TryPin();
      pointer.Unpin();
      rows[i] = thread_row;
      waiting.fetch_add(1);
      while (waiting.load() != kThreads) std::this_thread::yield();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const int row : rows) {
    EXPECT_LT(row, kSharedRow);
    EXPECT_EQ(std::count(rows.begin(), rows.end(), row), 1) << row;
  }
  // After a thread ends, the next thread gets its row.
  const int most = *std::max_element(rows.begin(), rows.end());
  for (size_t i = 0; i < 2 * kThreads; ++i) {
    std::thread([&] {
      pointer.TryPin();
      pointer.Unpin();
      EXPECT_LE(thread_row, most);
    }).join();
  }
}

TEST(PinnedPointerTest, MoreThreadsThanRowsShareOne) {
  // There are enough pins for two threads to meet within a count, even on two
  // processors.
  constexpr int kPinsPerThread = 20000;
  Pointer pointer;
  int value = 0;
  pointer.Publish(&value);
  std::atomic<int> waiting{0};
  std::atomic<bool> go{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 2 * kRowCount; ++i) {
    threads.emplace_back([&] {
      pointer.TryPin();
      waiting.fetch_add(1);
      while (!go.load()) std::this_thread::yield();
      for (int j = 0; j < kPinsPerThread; ++j) {
        pointer.TryPin();
        pointer.Unpin();
      }
      pointer.Unpin();
    });
  }
  while (waiting.load() != 2 * kRowCount) std::this_thread::yield();
  EXPECT_FALSE(pointer.TryTake());
  go.store(true);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(pointer.pin_count(), 2 * kRowCount * (kPinsPerThread + 1));
  EXPECT_TRUE(pointer.TryTake());
}

// A store-buffer litmus test: two threads meet, then one pins while the other
// takes the pointer away. A pin is lost if it succeeded and the taker did not
// see it.
template <typename Fence>
int CountLostPins(int trial_count, std::chrono::milliseconds limit) {
  PinnedPointer<Fence, 3> pointer;
  int value = 0;
  std::atomic<int> begun{0};
  std::atomic<int> ended{0};
  std::atomic<bool> stop{false};
  const void* pinned = nullptr;
  std::thread reader([&] {
    for (int trial = 1;; ++trial) {
      while (begun.load() < trial) {
        if (stop.load()) return;
      }
      pinned = pointer.TryPin();
      ended.store(trial);
    }
  });
  int lost_count = 0;
  const auto end = std::chrono::steady_clock::now() + limit;
  for (int trial = 1; trial <= trial_count; ++trial) {
    if (trial % 256 == 0 && std::chrono::steady_clock::now() > end) break;
    pointer.Publish(&value);
    begun.store(trial);
    for (volatile int spin = 0; spin < trial % 64; spin = spin + 1) {
    }
    const bool taken = pointer.TryTake();
    while (ended.load() < trial) {
    }
    if (taken && pinned != nullptr) ++lost_count;
    if (pinned != nullptr) pointer.Unpin();
  }
  stop.store(true);
  reader.join();
  return lost_count;
}

// Returns whether a new thread gets the fast path.
bool NewThreadIsFast() {
  bool is_fast = false;
  std::thread([&] {
    AssignThreadRow();
    is_fast = thread_row_offset_bytes != kNoFastRow;
  }).join();
  return is_fast;
}

constexpr int kTrialCount = 200000;
constexpr std::chrono::milliseconds kLimit{2000};

TEST(PinnedPointerLitmusTest, TheShippedFenceLosesNoPin) {
  EXPECT_EQ(NewThreadIsFast(), ChooseFence() == FenceKind::kMembarrier);
  EXPECT_EQ(CountLostPins<AsymmetricFence>(kTrialCount, kLimit), 0);
}

#if !defined(FOOTPRINT_MEMO_THREAD_SANITIZER) && !defined(__SANITIZE_ADDRESS__)
// If this failed, the test before it would prove nothing.
TEST(PinnedPointerLitmusTest, WithoutFencesPinsAreLost) {
  if (std::thread::hardware_concurrency() < 2) {
    GTEST_SKIP() << "one processor does not reorder what its threads see";
  }
  int lost_count = 0;
  for (int round = 0; round < 16 && lost_count == 0; ++round) {
    lost_count = CountLostPins<NoFence>(kTrialCount, kLimit);
  }
  std::printf("pins lost without fences: %d\n", lost_count);
  EXPECT_GT(lost_count, 0);
}
#endif

// This test comes last, since it changes the fence for the whole process.
TEST(PinnedPointerLitmusTest, TheFallbackLosesNoPin) {
  ForceSequentiallyConsistentFenceForTesting();
  EXPECT_FALSE(NewThreadIsFast());
  EXPECT_EQ(CountLostPins<AsymmetricFence>(kTrialCount, kLimit), 0);
}

}  // namespace
}  // namespace footprint::memo_internal
