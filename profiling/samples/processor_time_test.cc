#include "footprint/profiling/samples/processor_time.h"

#include "footprint/profiling/heap/thread_start.h"
#include "gtest/gtest.h"

namespace footprint::profiling_internal {
namespace {

void* ReturnIt(void* argument) { return argument; }

TEST(ProcessorTimeTest, WithoutItsFileItDoesNotBegin) {
  EXPECT_FALSE(BeginProcessorTime(/*folder=*/-1, "no/such/folder",
                                  /*interval_ns=*/10'000'000));
  int argument = 0;
  const ThreadStart start = TimedThread({ReturnIt, &argument});
  EXPECT_EQ(start.function, ReturnIt);
  EXPECT_EQ(start.argument, &argument);
}

}  // namespace
}  // namespace footprint::profiling_internal
