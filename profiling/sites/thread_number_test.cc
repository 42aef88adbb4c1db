#include "footprint/profiling/sites/thread_number.h"

#include <thread>

#include "gtest/gtest.h"

namespace footprint::profiling_internal {
namespace {

uint32_t NumberOfNewThread() {
  uint32_t number = 0;
  std::thread([&number] {
    number = ThreadNumber();
    EXPECT_EQ(ThreadNumber(), number);
  }).join();
  return number;
}

TEST(ThreadNumberTest, EachThreadHasTheNext) {
  RestartThreadNumbers();
  EXPECT_EQ(ThreadNumber(), 1u);
  EXPECT_EQ(NumberOfNewThread(), 2u);
  EXPECT_EQ(NumberOfNewThread(), 3u);
  EXPECT_EQ(ThreadNumber(), 1u);
}

TEST(ThreadNumberTest, TheChildOfAForkBeginsAnew) {
  RestartThreadNumbers();
  EXPECT_EQ(NumberOfNewThread(), 1u);
  EXPECT_EQ(ThreadNumber(), 2u);
  RestartThreadNumbers();
  EXPECT_EQ(ThreadNumber(), 1u);
}

}  // namespace
}  // namespace footprint::profiling_internal
