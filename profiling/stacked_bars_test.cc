#include "footprint/profiling/stacked_bars.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::HasSubstr;

StackedBars TwoBars() {
  StackedBars chart;
  chart.title = "Stages";
  chart.series = {"read", "fit"};
  chart.bars = {{"small", {300, 100}}, {"large", {0, 1000}}};
  return chart;
}

TEST(StackedBarsTest, GivesEveryBarTheFullWidthForShares) {
  const std::string html = DrawStackedBars(TwoBars());
  EXPECT_THAT(html, HasSubstr("flex:0 1 75.00%"));
  EXPECT_THAT(html, HasSubstr("flex:0 1 100.00%"));
  EXPECT_THAT(html, HasSubstr("read 300 B (75 %), fit 100 B (25 %)"));
  EXPECT_THAT(html, HasSubstr("400 B"));
}

TEST(StackedBarsTest, GivesTheLargestBarTheFullWidthForAbsoluteValues) {
  StackedBars chart = TwoBars();
  chart.scale = StackedBars::Scale::kAbsolute;
  const std::string html = DrawStackedBars(chart);
  EXPECT_THAT(html, HasSubstr("flex:0 1 30.00%"));
  EXPECT_THAT(html, HasSubstr("flex:0 1 10.00%"));
  EXPECT_THAT(html, HasSubstr("flex:0 1 100.00%"));
}

TEST(StackedBarsTest, SaysThatABarIsEmpty) {
  StackedBars chart = TwoBars();
  chart.bars = {{"none", {0, 0}}, {"missing", {}}};
  EXPECT_THAT(DrawStackedBars(chart), HasSubstr("aria-label=\"nothing\""));
}

}  // namespace
}  // namespace footprint
