// A line chart for a page (page.h).
//
//   LineChart chart;
//   chart.title = "Growth";
//   chart.lines = {{"peak", {{1, 10}, {2, 20}}}};
//   std::string html = DrawLineChart(chart);
//
// It is drawn twice, for a wide screen and for a telephone, which shows all of
// it, too; the page's style shows one of the two. Text is escaped; equal data
// give equal bytes. Thread-safe. Memory: the text.

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
  };

  std::string title;
  std::string description;
  std::string x_label;
  std::string y_label;
  // Powers of ten at equal distances; points at or below zero are left out.
  bool has_logarithmic_x = false;
  bool has_logarithmic_y = false;
  std::vector<Line> lines;  // at most 8 are told apart by colour
  std::function<std::string(double)> format_x;  // unset: plain numbers
  std::function<std::string(double)> format_y;
};

std::string DrawLineChart(const LineChart& chart);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_PAGE_LINE_CHART_H_
