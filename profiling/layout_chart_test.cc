#include "footprint/profiling/layout_chart.h"

#include <cstdint>
#include <limits>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

LayoutChart TwoBoxes() {
  LayoutChart chart;
  chart.title = "Layout";
  chart.series = {"weight", "gradient"};
  chart.boxes = {{"a<b", 0, 4, 0, 30, 0, true}, {"c", 2, 8, 30, 30, 1, false}};
  chart.marked_step = 2;
  chart.marked_bytes = 60;
  chart.marked_label = "lower bound";
  return chart;
}

TEST(LayoutChartTest, DrawsALayoutToScale) {
  const std::string html = DrawLayoutChart(TwoBoxes());
  // 0 to 8 steps from 84 to 720, 0 to 60 bytes from 430 up to 30.
  EXPECT_THAT(html, HasSubstr("class=\"box marked\" x=\"84.00\" y=\"230.00\" "
                              "width=\"318.00\" height=\"200.00\""));
  EXPECT_THAT(html, HasSubstr("class=\"box pale\" x=\"243.00\" y=\"30.00\" "
                              "width=\"477.00\" height=\"200.00\""));
  EXPECT_THAT(html, HasSubstr("a&lt;b (weight): 30 B (30 B) at 0, from step 0 "
                              "until before 4"));
  // Live: 30 bytes, from step 2 on 60, from step 4 on 30, at the end none.
  EXPECT_THAT(html, HasSubstr("d=\"M84.00 532.00H84.00V492.00H243.00V452.00"
                              "H402.00V492.00H720.00V532.00\""));
  EXPECT_THAT(html, HasSubstr(">lower bound</text>"));
}

TEST(LayoutChartTest, DrawsALayoutOfNothingAndOfTheLargestSizes) {
  EXPECT_THAT(DrawLayoutChart({}), Not(HasSubstr("nan")));
  LayoutChart chart;
  constexpr int64_t kMaximum = std::numeric_limits<int64_t>::max();
  chart.boxes = {{"a", 5, 6, 0, kMaximum}};
  chart.marked_bytes = kMaximum;
  EXPECT_THAT(DrawLayoutChart(chart), Not(HasSubstr("inf")));
}

}  // namespace
}  // namespace footprint
