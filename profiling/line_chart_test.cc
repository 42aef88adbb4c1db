#include "footprint/profiling/line_chart.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(LineChartTest, PlacesPointsOnLogarithmicAxes) {
  LineChart chart;
  chart.has_logarithmic_x = chart.has_logarithmic_y = true;
  chart.lines = {{"a", {{0, 5}, {1, 1}, {10, 100}, {100, 10000}}}};
  const std::string html = DrawLineChart(chart);
  // Three points remain, the middle one exactly between the others.
  EXPECT_THAT(html, HasSubstr("M84.00 308.00L402.00 169.00L720.00 30.00"));
}

TEST(LineChartTest, DrawsALineChartWithoutPoints) {
  LineChart chart;
  chart.lines = {{"empty", {}}};
  const std::string html = DrawLineChart(chart);
  EXPECT_THAT(html, Not(HasSubstr("nan")));
  EXPECT_THAT(html, Not(HasSubstr("inf")));
}

}  // namespace
}  // namespace footprint
