#include "footprint/profiling/schema/benchmark_count.h"

#include <string>

#include "gtest/gtest.h"

namespace footprint {
namespace {

TEST(BenchmarkCountTest, IsReadAsItWasWritten) {
  EXPECT_EQ(BenchmarkCountLine(5), "benchmarks that ran: 5\n");
  EXPECT_EQ(ReadBenchmarkCount(BenchmarkCountLine(5)), 5);
  EXPECT_EQ(ReadBenchmarkCount("words\n" + BenchmarkCountLine(0)), 0);
}

TEST(BenchmarkCountTest, TheLastLineCounts) {
  EXPECT_EQ(ReadBenchmarkCount(BenchmarkCountLine(0) + BenchmarkCountLine(7) +
                               "more\n"),
            7);
}

TEST(BenchmarkCountTest, ATextWithoutSuchALineTellsNothing) {
  for (const char* text :
       {"", "benchmarks that ran: \n", "benchmarks that ran: many\n",
        "benchmarks that ran: -3\n", "x benchmarks that ran: 3\n"}) {
    EXPECT_EQ(ReadBenchmarkCount(text), kUnknownBenchmarkCount) << text;
  }
}

}  // namespace
}  // namespace footprint
