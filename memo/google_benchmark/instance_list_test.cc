#include "footprint/memo/google_benchmark/instance_list.h"

#include <string>
#include <vector>

#include "benchmark/benchmark.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint::memo_internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

int runs = 0;

void BM_First(benchmark::State& state) {
  ++runs;
  for (auto _ : state) {
  }
}
BENCHMARK(BM_First)->Arg(1)->Arg(2)->Iterations(1);

void BM_Second(benchmark::State& state) {
  ++runs;
  for (auto _ : state) {
  }
}
BENCHMARK(BM_Second)->Iterations(1);

class InstanceListTest : public testing::Test {
 protected:
  ~InstanceListTest() override { benchmark::SetBenchmarkFilter(""); }
};

TEST_F(InstanceListTest, NamesAllInTheirOrderAndRunsNone) {
  std::string errors;
  EXPECT_THAT(ListInstances(&errors),
              ElementsAre("BM_First/1/iterations:1", "BM_First/2/iterations:1",
                          "BM_Second/iterations:1"));
  EXPECT_THAT(errors, IsEmpty());
  EXPECT_EQ(runs, 0);
}

TEST_F(InstanceListTest, FollowsTheFilterOfTheCommandLine) {
  benchmark::SetBenchmarkFilter("First/2");
  std::string errors;
  EXPECT_THAT(ListInstances(&errors), ElementsAre("BM_First/2/iterations:1"));
}

TEST_F(InstanceListTest, SaysThatAFilterMatchesNothing) {
  benchmark::SetBenchmarkFilter("BM_Third");
  std::string errors;
  EXPECT_THAT(ListInstances(&errors), IsEmpty());
  EXPECT_THAT(errors, HasSubstr("BM_Third"));
}

TEST_F(InstanceListTest, CountsWhatAnyFilterLeaves) {
  EXPECT_EQ(CountInstances("BM_First"), 2);
  EXPECT_EQ(CountInstances("^BM_Second"), 1);
  EXPECT_EQ(CountInstances("BM_Third"), 0);
  EXPECT_EQ(runs, 0);
}

// Listing restores Google Benchmark's flag, so benchmarks can run afterwards.
TEST_F(InstanceListTest, LeavesGoogleBenchmarkReadyToRun) {
  CountInstances("BM_Second");
  EXPECT_EQ(benchmark::RunSpecifiedBenchmarks(nullptr, nullptr, "BM_Second"),
            1);
  EXPECT_EQ(runs, 1);
}

}  // namespace
}  // namespace footprint::memo_internal
