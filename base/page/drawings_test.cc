// Charts, byte for byte as they were when a person last checked them: positions
// of labels, ticks and levels that no other test covers. After an intended
// change, check the drawing again; the test says where the new one is.

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "footprint/base/page/layout_chart.h"
#include "footprint/base/page/line_chart.h"
#include "footprint/base/page/timeline.h"
#include "gtest/gtest.h"

namespace footprint {
namespace {

void ExpectDrawing(const std::string& name, const std::string& drawing) {
  std::ifstream file("base/page/testdata/" + name, std::ios::binary);
  const std::string expected{std::istreambuf_iterator<char>(file), {}};
  if (drawing == expected) return;
  const char* const folder = std::getenv("TEST_UNDECLARED_OUTPUTS_DIR");
  const std::string drawn =
      std::string(folder == nullptr ? "." : folder) + "/" + name;
  std::ofstream(drawn, std::ios::binary) << drawing;
  ADD_FAILURE() << name << " is another drawing now: compare " << drawn
                << " with base/page/testdata/" << name;
}

TEST(DrawingsTest, ALayout) {
  LayoutChart chart;
  chart.title = "Layout";
  chart.description = "Two steps of training.";
  chart.series = {"weight", "gradient"};
  // The last box reaches above the mark.
  chart.boxes = {{"first", 0, 4, 0, 30 << 10, 0, true},
                 {"second", 2, 8, 30 << 10, 30 << 10, 1, false},
                 {"third", 7, 8, 60 << 10, 5 << 10, 1, true}};
  chart.spans = {{"forward", 0, 4}, {"backward", 4, 8}};
  chart.marked_step = 2;
  chart.marked_bytes = 60 << 10;
  chart.marked_label = "lower bound";
  ExpectDrawing("layout.html", DrawLayoutChart(chart));
}

LineChart Lines() {
  LineChart chart;
  chart.title = "Rate";
  chart.description = "medians";
  chart.x_label = "peak";
  chart.y_label = "passes a second";
  chart.lines = {{"streamed",
                  {{0, 190}, {3, 210}, {5, 209}, {97, 190}, {1030, 180}},
                  {"unseen", "first", "second", "third", "last"}},
                 {"resident", {{1030, 204}}, {}}};
  return chart;
}

TEST(DrawingsTest, LinesOfEvenAxes) {
  ExpectDrawing("lines.html", DrawLineChart(Lines()));
}

TEST(DrawingsTest, LinesOfALogarithmicAxis) {
  LineChart chart = Lines();
  chart.has_logarithmic_x = true;
  chart.may_leave_zero_out = true;
  const std::string drawing = LineChartSvg(chart);
  // Zero has no place on the axis, and so its label has none.
  EXPECT_EQ(drawing.find("unseen"), std::string::npos);
  ExpectDrawing("logarithmic_lines.svg", drawing);
}

TEST(DrawingsTest, ATimeline) {
  Timeline timeline;
  timeline.title = "Live bytes";
  timeline.description = "Of one process.";
  timeline.series = {"read", "fit"};
  timeline.points = {
      {0, 0, 0}, {1'000'000'000, 4096, 1}, {2'500'000'000, 512, 1}};
  timeline.marked_point = 1;
  timeline.marked_label = "peak";
  ExpectDrawing("timeline.html", DrawTimeline(timeline));
}

}  // namespace
}  // namespace footprint
