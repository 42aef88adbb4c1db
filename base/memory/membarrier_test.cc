#include "footprint/base/memory/membarrier.h"

#include <atomic>
#include <thread>

#include "gtest/gtest.h"

namespace footprint {
namespace {

// Dekker's pattern: each thread stores to one variable and loads the other, so
// at least one sees the other's store. The light side fences only the compiler.
TEST(MembarrierTest, StandsForTheOtherThreadsFence) {
  if (!RegisterMembarrier()) {
    EXPECT_FALSE(Membarrier());
    return;
  }
  constexpr int kRounds = 20000;
  std::atomic<int> light{0}, heavy{0}, round{0}, done{0};
  int seen_by_light = 0;
  std::thread light_thread([&] {
    for (int i = 1; i <= kRounds; ++i) {
      while (round.load() < i) std::this_thread::yield();
      light.store(i, std::memory_order_relaxed);
      std::atomic_signal_fence(std::memory_order_seq_cst);
      seen_by_light = heavy.load(std::memory_order_relaxed);
      done.store(i);
    }
  });
  int missed = 0;
  for (int i = 1; i <= kRounds; ++i) {
    round.store(i);
    heavy.store(i, std::memory_order_relaxed);
    ASSERT_TRUE(Membarrier());
    const int seen_by_heavy = light.load(std::memory_order_relaxed);
    while (done.load() < i) std::this_thread::yield();
    if (seen_by_heavy < i && seen_by_light < i) ++missed;
  }
  light_thread.join();
  EXPECT_EQ(missed, 0);
}

}  // namespace
}  // namespace footprint
