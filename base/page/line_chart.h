// A line chart for a page (page.h).
//
//   LineChart chart;
//   chart.title = "Growth";
//   chart.lines = {{"peak", {{1, 10}, {2, 20}}}};
//   std::string html = DrawLineChart(chart);
//
// A page contains two drawings, for a wide screen and for a telephone, and its
// style shows one of them. Text is escaped; equal data give equal bytes. Pure
// apart from the two functions, which DrawLineChart calls. The result owns its
// text. Thread-safe. Memory: the text.

#ifndef FOOTPRINT_BASE_PAGE_LINE_CHART_H_
#define FOOTPRINT_BASE_PAGE_LINE_CHART_H_

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace footprint {

// Lines through points, for figures that follow a size.
struct LineChart {
  struct Line {
    std::string name;
    std::vector<std::pair<double, double>> points;  // x ascending
    // The labels of the first points; may be shorter than `points`.
    std::vector<std::string> labels = {};
  };

  std::string title;
  std::string description;
  std::string x_label;
  std::string y_label;
  // If set, powers of ten have equal distances, and points at or below zero are
  // left out.
  bool has_logarithmic_x = false;
  bool has_logarithmic_y = false;
  // If set, a logarithmic x axis has ticks at powers of two.
  bool has_bytes_x = false;
  // If set, a y axis that is not logarithmic begins above zero when more than
  // half of it would otherwise be empty. Its name then says where it begins.
  bool may_leave_zero_out = false;
  std::vector<Line> lines;  // at most 8 have different colours
  std::function<std::string(double)> format_x;  // unset: plain numbers
  std::function<std::string(double)> format_y;
};

// Returns the chart as HTML.
std::string DrawLineChart(const LineChart& chart);

// Returns a picture that stands alone: an SVG file with its own title and
// legend.
std::string LineChartSvg(const LineChart& chart);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_PAGE_LINE_CHART_H_
