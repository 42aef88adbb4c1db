// A line chart for a page (page.h).
//
//   LineChart chart;
//   chart.title = "Growth";
//   chart.lines = {{"peak", {{1, 10}, {2, 20}}}};
//   std::string html = DrawLineChart(chart);
//
// In a page it is drawn twice, for a wide screen and for a telephone, which
// shows all of it, too; the page's style shows one of the two. Text is escaped;
// equal data give equal bytes. Pure but for the two functions, which are called
// before DrawLineChart returns: the text has copies. Thread-safe. Memory: the
// text.

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
    // Beside the points, of the first on; may be fewer.
    std::vector<std::string> labels = {};
  };

  std::string title;
  std::string description;
  std::string x_label;
  std::string y_label;
  // Powers of ten at equal distances; points at or below zero are left out.
  bool has_logarithmic_x = false;
  bool has_logarithmic_y = false;
  // Bytes: the powers of a logarithmic x are those of two.
  bool has_bytes_x = false;
  // The y axis may begin above zero if this is set, and does so if more than
  // half of it would be empty; then its name says where it begins.
  bool may_leave_zero_out = false;
  std::vector<Line> lines;  // at most 8 are told apart by colour
  std::function<std::string(double)> format_x;  // unset: plain numbers
  std::function<std::string(double)> format_y;
};

std::string DrawLineChart(const LineChart& chart);

// A picture that stands alone, as an SVG file, with its own title and legend.
std::string LineChartSvg(const LineChart& chart);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_PAGE_LINE_CHART_H_
