#include "footprint/base/page/line_chart.h"

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

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
  // Three points remain; the middle one is exactly between the others.
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
  // There are fewer labels, since they would otherwise overlap.
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

LineChart TwoLines() {
  LineChart chart;
  chart.title = "Rate <of> passes";
  chart.description = "medians";
  chart.x_label = "peak";
  chart.y_label = "passes a second";
  chart.has_logarithmic_x = chart.has_bytes_x = true;
  chart.may_leave_zero_out = true;
  chart.lines = {{"streamed",
                  {{4 << 20, 190}, {5 << 20, 200}, {1 << 30, 205}},
                  {"1 MiB", "2 MiB", "1 GiB"}},
                 {"resident", {{1 << 30, 204}}, {}}};
  return chart;
}

// Returns the y of each text whose words are `words`.
std::vector<double> ReadHeights(const std::string& svg,
                                const std::string& words) {
  std::vector<double> heights;
  for (size_t at = svg.find(">" + words + "<"); at != std::string::npos;
       at = svg.find(">" + words + "<", at + 1)) {
    const size_t y = svg.rfind(" y=\"", at);
    heights.push_back(std::stod(svg.substr(y + 4)));
  }
  return heights;
}

TEST(LineChartTest, APictureStandsAlone) {
  const std::string svg = LineChartSvg(TwoLines());
  EXPECT_EQ(svg.find("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox="), 0);
  EXPECT_THAT(svg, HasSubstr("--c0: "));
  EXPECT_THAT(svg, HasSubstr("svg .line {"));
  EXPECT_THAT(svg, HasSubstr(">Rate &lt;of&gt; passes</text>"));
  EXPECT_THAT(svg, Not(HasSubstr("http:\"")));
  EXPECT_EQ(svg, LineChartSvg(TwoLines()));
  // The x axis has powers of two, and the y axis says where it begins.
  EXPECT_THAT(svg, HasSubstr(">passes a second, from 18"));
  // A page's chart has the same lines.
  EXPECT_THAT(DrawLineChart(TwoLines()), HasSubstr(">1 GiB</text>"));
}

TEST(LineChartTest, NothingLiesOnTheLegend) {
  const std::string svg = LineChartSvg(TwoLines());
  double last = 0;
  for (const char* words :
       {"Rate &lt;of&gt; passes", "medians", "streamed", "resident"}) {
    ASSERT_EQ(ReadHeights(svg, words).size(), 1) << words;
    EXPECT_GE(ReadHeights(svg, words)[0] - last, 18) << words;
    last = ReadHeights(svg, words)[0];
  }
  for (const char* label : {"1 MiB", "2 MiB", "1 GiB"}) {
    ASSERT_EQ(ReadHeights(svg, label).size(), 1) << label;
    EXPECT_GE(ReadHeights(svg, label)[0] - last, 18) << label;
  }
}

TEST(LineChartTest, LabelsLieWhereTheLineDoesNotRun) {
  LineChart chart = TwoLines();
  std::string svg = LineChartSvg(chart);
  // The first label is below its point, and the next one, which is near, above
  // its own.
  EXPECT_GT(ReadHeights(svg, "1 MiB")[0], ReadHeights(svg, "2 MiB")[0] + 30);
  EXPECT_THAT(svg, Not(HasSubstr("text-anchor=\"middle\"></text>")));
  // Both are above, so they are turned away from each other.
  chart.lines[0].points[0].second = 210;
  chart.lines[0].points[1].second = 209;
  chart.lines[0].points[2].second = 190;
  svg = LineChartSvg(chart);
  EXPECT_THAT(svg, HasSubstr("text-anchor=\"end\">1 MiB<"));
  EXPECT_THAT(svg, HasSubstr("text-anchor=\"start\">2 MiB<"));
}

}  // namespace
}  // namespace footprint
