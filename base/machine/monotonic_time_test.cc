#include "footprint/base/machine/monotonic_time.h"

#include <time.h>

#include <cstdint>

#include "gtest/gtest.h"

namespace footprint {
namespace {

int64_t SystemTimeNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

TEST(MonotonicTimeTest, IsTheSystemsInNanoseconds) {
  const int64_t before_ns = SystemTimeNs();
  const int64_t now_ns = MonotonicTimeNs();
  const int64_t after_ns = SystemTimeNs();
  EXPECT_LE(before_ns, now_ns);
  EXPECT_LE(now_ns, after_ns);
}

TEST(MonotonicTimeTest, AThreadThatSleepsDoesNotRun) {
  const int64_t before_ns = ThreadProcessorTimeNs();
  const timespec pause = {0, 100'000'000};
  nanosleep(&pause, nullptr);
  const int64_t slept_ns = ThreadProcessorTimeNs() - before_ns;
  EXPECT_GE(slept_ns, 0);
  EXPECT_LT(slept_ns, 50'000'000);
  const int64_t begin_ns = ThreadProcessorTimeNs();
  while (ThreadProcessorTimeNs() < begin_ns + 1'000'000) continue;
}

}  // namespace
}  // namespace footprint
