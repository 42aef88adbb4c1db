#include "footprint/profiling/heap/coarse_time.h"

#include "gtest/gtest.h"

namespace footprint::profiling_internal {
namespace {

int64_t FineTimeNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * int64_t{1000000000} + now.tv_nsec;
}

TEST(CoarseTimeTest, IsTheMonotonicClocksLastTick) {
  timespec tick;
  ASSERT_EQ(clock_getres(CLOCK_MONOTONIC_COARSE, &tick), 0);
  const int64_t before_ns = FineTimeNs();
  const int64_t coarse_ns = CoarseTimeNs();
  EXPECT_LE(coarse_ns, FineTimeNs());
  EXPECT_GE(coarse_ns, before_ns - 2 * tick.tv_nsec);
}

}  // namespace
}  // namespace footprint::profiling_internal
