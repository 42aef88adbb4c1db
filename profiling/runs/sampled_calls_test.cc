// Tests what sampled_calls.h promises.

#include "footprint/profiling/runs/sampled_calls.h"

#include <cmath>
#include <limits>

#include "footprint/profiling/records/stack_tallies.h"
#include "footprint/profiling/runs/call_forest.h"
#include "footprint/profiling/symbols/symbolizer.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

// A program that calls the interpreter, which runs a Python function, which
// calls a library.
StackTallies FourStacks() {
  StackTallies tallies;
  tallies.tree.modules = {{"/no/such/program", "", 0, 0},
                          {"/usr/bin/python3.11", "", 0, 0},
                          {"/lib/libm.so", "", 0, 0}};
  tallies.tree.nodes = {
      {CallTree::kNone, 0, 0x10},
      {0, 1, 0x20},
      {1, CallTree::kNone, 0, /*python_code=*/0, /*python_instruction=*/2},
      {2, 2, 0x30}};
  return tallies;
}

StackTallies::Tally MakeTally(int node, uint32_t thread, uint32_t stage,
                              int64_t first, int64_t second) {
  StackTallies::Tally tally;
  tally.node = node;
  tally.thread = thread;
  tally.stage = stage;
  tally.sample_count = 1;
  tally.amounts[0] = first;
  tally.amounts[1] = second;
  return tally;
}

class SampledCallsTest : public testing::Test {
 protected:
  SampledCallsTest() {
    image_.add_stages();
    image_.add_stages()->set_name("fit");
  }

  void SetTimes(const StackTallies& tallies) {
    SetProcessorTime(
        tallies, [](uint32_t number) { return number / 10; },
        /*python=*/nullptr, &symbolizer_, &forest_, &image_);
  }

  MeasuredRun run_;
  CallForest forest_{&run_};
  Symbolizer symbolizer_;
  MeasuredImage image_;
};

TEST_F(SampledCallsTest, TimeInTheInterpreterAndInPythonIsTheInterpreters) {
  StackTallies tallies = FourStacks();
  for (int node = 0; node < 4; ++node) {
    tallies.tallies.push_back(MakeTally(node, 10, 0, 1 << node, 100 << node));
  }
  SetTimes(tallies);
  ASSERT_EQ(image_.processor_time_size(), 4);
  int64_t native_ns = 0;
  int64_t interpreter_ns = 0;
  int64_t system_ns = 0;
  for (const ProcessorTime& time : image_.processor_time()) {
    native_ns += time.native_ns();
    interpreter_ns += time.interpreter_ns();
    system_ns += time.system_ns();
    EXPECT_EQ(time.thread(), 1u) << "the index, not the number";
  }
  EXPECT_EQ(native_ns, 1 + 8) << "the program, and what Python called";
  EXPECT_EQ(interpreter_ns, 2 + 4);
  EXPECT_EQ(system_ns, 1500);
}

TEST_F(SampledCallsTest, TalliesOfOneStackThreadAndStageAreOne) {
  StackTallies tallies = FourStacks();
  tallies.tallies = {MakeTally(3, 10, 1, 5, 7), MakeTally(3, 10, 1, 6, 8),
                     MakeTally(3, 20, 1, 1, 0), MakeTally(3, 10, 0, 1, 0),
                     MakeTally(CallTree::kNone, 10, 2, 1, 0)};
  SetTimes(tallies);
  ASSERT_EQ(image_.processor_time_size(), 4);
  EXPECT_EQ(image_.processor_time(0).call(), 0u) << "of no known stack";
  EXPECT_EQ(image_.processor_time(0).stage(), 0u) << "no stage has number 2";
  const ProcessorTime& both = image_.processor_time(2);
  EXPECT_EQ(both.stage(), 1u);
  EXPECT_EQ(both.native_ns(), 11);
  EXPECT_EQ(both.system_ns(), 15);
  EXPECT_EQ(both.sample_count(), 2);
}

TEST_F(SampledCallsTest, CopiesOfThreadsAreOneAndKeepTheirVariance) {
  StackTallies tallies = FourStacks();
  for (const double variance :
       {3.0, 4.0, -1.0, std::numeric_limits<double>::infinity(),
        std::numeric_limits<double>::quiet_NaN()}) {
    tallies.tallies.push_back(MakeTally(3, 10, 1, 100, 2));
    tallies.tallies.back().variance = variance;
  }
  tallies.tallies[1].thread = 20;
  SetCopies(tallies, /*python=*/nullptr, &symbolizer_, &forest_, &image_);
  ASSERT_EQ(image_.copies_size(), 1);
  EXPECT_EQ(image_.copies(0).copied().bytes(), 500);
  EXPECT_EQ(image_.copies(0).copied().count(), 10);
  EXPECT_EQ(image_.copies(0).copied().variance(), 7);
  EXPECT_EQ(image_.copies(0).stage(), 1u);
}

TEST_F(SampledCallsTest, TheInterpreterIsKnownByItsFilesName) {
  for (const char* path : {"/usr/bin/python3.11", "/opt/python2.7", "python",
                           "/lib/libpython3.11.so.1.0"}) {
    EXPECT_TRUE(IsInterpreterPath(path)) << path;
  }
  for (const char* path :
       {"/usr/lib/python3/numpy.so", "/bin/pythonic", "/bin/bash", ""}) {
    EXPECT_FALSE(IsInterpreterPath(path)) << path;
  }
}

}  // namespace
}  // namespace footprint
