#include "footprint/base/page/line_chart.h"

#include <cmath>
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

TEST(LineChartTest, HasAPictureThatFitsATelephone) {
  LineChart chart;
  chart.lines = {{"a", {{1, 10}, {1000000, 20}}}};
  chart.format_x = [](double x) { return std::to_string(std::lround(x)); };
  const std::string html = DrawLineChart(chart);
  EXPECT_THAT(html, HasSubstr("class=\"wide\" viewBox=\"0 0 760 360\""));
  EXPECT_THAT(html, HasSubstr("class=\"narrow\" viewBox=\"0 0 350 300\""));
  EXPECT_THAT(html, Not(HasSubstr("class=\"scroll\"")));
  // Labels that would run into each other are fewer.
  const std::string narrow = html.substr(html.find("class=\"narrow\""));
  EXPECT_THAT(narrow, HasSubstr(">500000<"));
  EXPECT_THAT(narrow, Not(HasSubstr(">200000<")));
  EXPECT_THAT(html, HasSubstr(">200000<"));
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
