#include "footprint/profiling/samples/processor_time.h"

#include "gtest/gtest.h"

namespace footprint::profiling_internal {
namespace {

// That it samples is tested with programs, by
// //profiling/memprof:sampling_test.
TEST(ProcessorTimeTest, SaysWhereItsFileCannotBeMade) {
  EXPECT_FALSE(BeginProcessorTime(/*folder=*/-1, "1.0.processor_time",
                                  /*interval_ns=*/10'000'000));
  const ThreadStart start = {nullptr, nullptr};
  EXPECT_EQ(TimedThread(start).function, start.function);
}

}  // namespace
}  // namespace footprint::profiling_internal
