#include "footprint/gates/trials/memory_admission.h"

#include <atomic>
#include <cstdint>
#include <limits>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(MemoryAdmissionTest, SharesOfAllThreadsStayWithinTheTotal) {
  MemoryAdmission admission(1000);
  std::atomic<int64_t> held{0};
  std::atomic<int64_t> most{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 500; ++i) {
        const int64_t bytes = 100 + 97 * ((i + t) % 10);
        const MemoryAdmission::Share share = admission.Await(bytes);
        const int64_t now = held += bytes;
        int64_t before = most;
        while (now > before && !most.compare_exchange_weak(before, now)) {
        }
        held -= bytes;
      }
    });
  }
  for (std::thread& each : threads) each.join();
  EXPECT_LE(most, 1000);
  EXPECT_EQ(held, 0);
  // All bytes are free again.
  const MemoryAdmission::Share all = admission.Await(1000);
}

// A small share that would fit waits behind a large one that was requested
// before it.
TEST(MemoryAdmissionTest, ALargeShareIsNotPassedOver) {
  MemoryAdmission admission(1000);
  std::optional<MemoryAdmission::Share> first(admission.Await(600));
  std::atomic<int> order{0};
  int large_at = 0;
  int small_at = 0;
  std::thread large([&] {
    const MemoryAdmission::Share share = admission.Await(1000);
    large_at = ++order;
  });
  while (admission.waiting_count() < 1) std::this_thread::yield();
  std::thread small([&] {
    const MemoryAdmission::Share share = admission.Await(100);
    small_at = ++order;
  });
  while (admission.waiting_count() < 2) std::this_thread::yield();
  first.reset();
  large.join();
  small.join();
  EXPECT_EQ(large_at, 1);
  EXPECT_EQ(small_at, 2);
}

TEST(MemoryAdmissionTest, NobodyGetsMoreThanThereIs) {
  MemoryAdmission admission(1000);
  {
    const MemoryAdmission::Share share =
        admission.Await(std::numeric_limits<int64_t>::max());
  }
  { const MemoryAdmission::Share share = admission.Await(-5); }
  const MemoryAdmission::Share all = admission.Await(1000);
}

TEST(MemoryAdmissionTest, AMovedShareGoesBackOnce) {
  MemoryAdmission admission(1000);
  {
    MemoryAdmission::Share share = admission.Await(1000);
    const MemoryAdmission::Share moved = std::move(share);
  }
  std::atomic<bool> has_half{false};
  const MemoryAdmission::Share half = admission.Await(600);
  std::thread other([&] {
    const MemoryAdmission::Share share = admission.Await(400);
    has_half = true;
  });
  other.join();
  EXPECT_TRUE(has_half);
}

TEST(MemoryAdmissionTest, AnEighthIsLeft) {
  EXPECT_EQ(MemoryAdmission::BytesForRuns(800), 700);
  EXPECT_EQ(MemoryAdmission::BytesForRuns(std::numeric_limits<int64_t>::max()),
            std::numeric_limits<int64_t>::max() -
                std::numeric_limits<int64_t>::max() / 8);
}

}  // namespace
}  // namespace footprint
