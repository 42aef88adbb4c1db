#include "footprint/base/page/stacked_bars.h"

#include <limits>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

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

// No gap and no line may widen a part that is too small to be seen.
TEST(StackedBarsTest, DrawsSmallPartsToScale) {
  StackedBars chart = TwoBars();
  chart.bars = {{"small", {996, 4}}, {"large", {990, 10}}};
  const std::string html = DrawStackedBars(chart);
  EXPECT_THAT(html, HasSubstr("<span class=\"part\" style=\"flex:0 1 0.40%"));
  EXPECT_THAT(html,
              HasSubstr("<span class=\"part lined\" style=\"flex:0 1 1.00%"));
  EXPECT_THAT(html, HasSubstr("read 996 B (&gt;99 %), fit 4 B (&lt;1 %)"));
}

TEST(StackedBarsTest, TellsNoSharesOfWhatIsUnknown) {
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  StackedBars chart = TwoBars();
  chart.bars = {{"a", {unknown, 100}}, {"b", {300, 100}}, {"c", {unknown}}};
  std::string html = DrawStackedBars(chart);
  EXPECT_THAT(html,
              HasSubstr("aria-label=\"fit 100 B, read unknown\">"
                        "<span class=\"unknown\">read unknown</span></div>"
                        "</td><td class=\"total\">100 B + read<"));
  EXPECT_THAT(html, HasSubstr("read 300 B (75 %), fit 100 B (25 %)"));
  EXPECT_THAT(html, HasSubstr("aria-label=\"read unknown\""));
  EXPECT_THAT(html, HasSubstr(">0 B + read<"));
  EXPECT_THAT(html, Not(HasSubstr("nan")));
  // Known bytes can be drawn.
  chart.scale = StackedBars::Scale::kAbsolute;
  html = DrawStackedBars(chart);
  EXPECT_THAT(html, HasSubstr("flex:0 1 25.00%"));
  EXPECT_THAT(html, HasSubstr("title=\"fit: 100 B\"></span></div></td>"
                              "<td class=\"total\">100 B + read<"));
  EXPECT_THAT(html, HasSubstr("aria-label=\"fit 100 B, read unknown\""));
  EXPECT_THAT(html, Not(HasSubstr("nan")));
}

TEST(StackedBarsTest, OnePartAloneHasNoShare) {
  StackedBars chart;
  chart.series = {"peak"};
  chart.scale = StackedBars::Scale::kAbsolute;
  chart.bars = {{"fit", {1024}}, {"read", {512}}};
  EXPECT_THAT(DrawStackedBars(chart), Not(HasSubstr("100 %")));
}

TEST(StackedBarsTest, BeginsWithTheColourItIsTold) {
  StackedBars chart = TwoBars();
  chart.first_colour = 3;
  const std::string html = DrawStackedBars(chart);
  EXPECT_THAT(html, HasSubstr("<span class=\"key\" style=\"background:var(--c3)"
                              "\"></span>read"));
  EXPECT_THAT(html, HasSubstr("background:var(--c4);color:var(--t4)"));
  EXPECT_THAT(html, Not(HasSubstr("--c0")));
}

TEST(StackedBarsTest, SaysThatABarIsEmpty) {
  StackedBars chart = TwoBars();
  chart.bars = {{"none", {0, 0}}, {"missing", {}}};
  EXPECT_THAT(DrawStackedBars(chart), HasSubstr("aria-label=\"nothing\""));
}

}  // namespace
}  // namespace footprint
