#include "footprint/base/page/line_chart.h"

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "footprint/base/page/chart_drawing.h"
#include "footprint/base/text/report_escape.h"

namespace footprint {
namespace {

using page_internal::Axis;
using page_internal::Caption;
using page_internal::Frame;
using page_internal::kColourCount;
using page_internal::kNarrowFrame;
using page_internal::kWideFrame;
using page_internal::Legend;
using page_internal::Length;
using page_internal::SvgText;

std::string FormatWith(const std::function<std::string(double)>& format,
                       double value) {
  return format ? format(value) : absl::StrFormat("%g", value);
}

std::string SvgGrid(const LineChart& chart, const Frame& frame, const Axis& x,
                    const Axis& y) {
  std::string svg;
  const double right = frame.width - frame.right;
  for (const double tick : y.Ticks()) {
    const double place = y.Place(tick);
    absl::StrAppend(&svg, "<path class=\"grid\" d=\"M", Length(frame.left), " ",
                    Length(place), "H", Length(right), "\"/>",
                    SvgText(frame.left - 10, place + 4, "end",
                            FormatWith(chart.format_y, tick)));
  }
  for (const double tick : x.Ticks(frame.tick_count)) {
    absl::StrAppend(
        &svg, SvgText(x.Place(tick), frame.height - frame.bottom + 20, "middle",
                      FormatWith(chart.format_x, tick)));
  }
  return absl::StrCat(
      svg, SvgText(frame.left, frame.top - 14, "start", chart.y_label),
      SvgText(right, frame.height - 8, "end", chart.x_label));
}

std::string SvgLine(const LineChart& chart, size_t index, const Axis& x,
                    const Axis& y) {
  const LineChart::Line& line = chart.lines[index];
  const std::string colour = absl::StrCat("var(--c", index % kColourCount, ")");
  std::string path;
  std::string points;
  for (const auto& [point_x, point_y] : line.points) {
    if (!x.Shows(point_x) || !y.Shows(point_y)) continue;
    const std::string place_x = Length(x.Place(point_x));
    const std::string place_y = Length(y.Place(point_y));
    absl::StrAppend(&path, path.empty() ? "M" : "L", place_x, " ", place_y);
    absl::StrAppend(
        &points, "<circle class=\"point\" r=\"5\" cx=\"", place_x, "\" cy=\"",
        place_y, "\" style=\"fill:", colour, "\"><title>",
        EscapeForXml(absl::StrCat(line.name, ", ",
                                  FormatWith(chart.format_x, point_x), ": ",
                                  FormatWith(chart.format_y, point_y))),
        "</title></circle>\n");
  }
  return absl::StrCat("<path class=\"line\" style=\"stroke:", colour, "\" d=\"",
                      path, "\"/>\n", points);
}

// The chart once; `screen` is the class of the screens that show it.
std::string SvgChart(const LineChart& chart, const Frame& frame,
                     const char* screen) {
  Axis x(chart.has_logarithmic_x, frame.left, frame.width - frame.right);
  Axis y(chart.has_logarithmic_y, frame.height - frame.bottom, frame.top);
  for (const LineChart::Line& line : chart.lines) {
    for (const auto& [point_x, point_y] : line.points) {
      x.Include(point_x);
      y.Include(point_y);
    }
  }
  x.Round();
  y.Round();
  std::string svg = absl::StrCat(
      "<svg class=\"", screen, "\" viewBox=\"0 0 ", frame.width, " ",
      frame.height, "\" role=\"img\" aria-label=\"", EscapeForXml(chart.title),
      ": ", EscapeForXml(chart.y_label), " by ", EscapeForXml(chart.x_label),
      "\">\n", SvgGrid(chart, frame, x, y));
  for (size_t i = 0; i < chart.lines.size(); ++i) {
    absl::StrAppend(&svg, SvgLine(chart, i, x, y));
  }
  return svg + "</svg>\n";
}

}  // namespace

std::string DrawLineChart(const LineChart& chart) {
  std::vector<std::string> names;
  for (const LineChart::Line& line : chart.lines) names.push_back(line.name);
  return absl::StrCat("<figure>\n", Caption(chart.title, chart.description),
                      Legend(names), SvgChart(chart, kWideFrame, "wide"),
                      SvgChart(chart, kNarrowFrame, "narrow"), "</figure>\n");
}

}  // namespace footprint
