#include "footprint/profiling/runs/call_forest.h"

#include <string>

#include "gtest/gtest.h"

namespace footprint {
namespace {

CodeFrame MakeFrame(const std::string& function, int line = 0) {
  CodeFrame frame;
  frame.set_function(function);
  frame.set_line(line);
  return frame;
}

TEST(CallForestTest, AFrameStandsThereOnce) {
  MeasuredRun run;
  CallForest forest(&run);
  EXPECT_EQ(forest.Frame(MakeFrame("main")), 0u);
  EXPECT_EQ(forest.Frame(MakeFrame("Fit")), 1u);
  EXPECT_EQ(forest.Frame(MakeFrame("main")), 0u);
  // Another line is another frame.
  EXPECT_EQ(forest.Frame(MakeFrame("Fit", 3)), 2u);
  ASSERT_EQ(run.frames_size(), 3);
  EXPECT_EQ(run.frames(1).function(), "Fit");
  EXPECT_EQ(run.frames(2).line(), 3);
}

TEST(CallForestTest, ACallIsOfAParentAndAFrame) {
  MeasuredRun run;
  CallForest forest(&run);
  const auto main = forest.Call(0, forest.Frame(MakeFrame("main")));
  const auto fit = forest.Call(main, forest.Frame(MakeFrame("Fit")));
  // The first is the same call; the second is the same function called from
  // elsewhere.
  EXPECT_EQ(forest.Call(main, forest.Frame(MakeFrame("Fit"))), fit);
  const auto outer_fit = forest.Call(0, forest.Frame(MakeFrame("Fit")));
  EXPECT_NE(outer_fit, fit);
  ASSERT_EQ(run.calls_size(), 3);
  EXPECT_EQ(run.calls(static_cast<int>(main) - 1).parent(), 0u);
  EXPECT_EQ(run.calls(static_cast<int>(fit) - 1).parent(), main);
  EXPECT_EQ(run.calls(static_cast<int>(fit) - 1).frame(), 1u);
  EXPECT_EQ(run.calls(static_cast<int>(outer_fit) - 1).parent(), 0u);
}

}  // namespace
}  // namespace footprint
