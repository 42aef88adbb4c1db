#include "footprint/base/page/line_chart.h"

#include <algorithm>
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
using page_internal::kChartColours;
using page_internal::kChartStyle;
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
    const double pixel = y.ToPixel(tick);
    absl::StrAppend(&svg, "<path class=\"grid\" d=\"M", Length(frame.left), " ",
                    Length(pixel), "H", Length(right), "\"/>",
                    SvgText(frame.left - 10, pixel + 4, "end",
                            FormatWith(chart.format_y, tick)));
  }
  for (const double tick : x.Ticks(frame.tick_count)) {
    absl::StrAppend(&svg,
                    SvgText(x.ToPixel(tick), frame.height - frame.bottom + 20,
                            "middle", FormatWith(chart.format_x, tick)));
  }
  // An axis that does not begin at zero says so.
  const std::string y_label =
      y.low() > 0 && !chart.has_logarithmic_y
          ? absl::StrCat(chart.y_label, ", from ",
                         FormatWith(chart.format_y, y.low()))
          : chart.y_label;
  return absl::StrCat(svg,
                      SvgText(frame.left, frame.top - 14, "start", y_label),
                      SvgText(right, frame.height - 8, "end", chart.x_label));
}

// Returns whether the label goes above the point: it does if the point is
// higher than its neighbours on average. The line then stays below the label.
bool LabelIsAbove(const LineChart::Line& line, size_t i) {
  const double y = line.points[i].second;
  double rise = 0;  // the sum of the rises from the neighbours
  if (i > 0) rise += y - line.points[i - 1].second;
  if (i + 1 < line.points.size()) rise += y - line.points[i + 1].second;
  return rise > 0;
}

// Draws the labels of a line's points. Of two close labels on the same side,
// the first ends at its point and the second begins at its point. In a longer
// row of close labels, all but the first begin at their points.
std::string SvgLabels(const LineChart::Line& line, const Axis& x,
                      const Axis& y) {
  // An estimate: the width of a text depends on the reader's fonts.
  constexpr double kWidthOfLabel = 60;
  const size_t count = std::min(line.labels.size(), line.points.size());
  const auto are_close = [&](size_t a, size_t b) {
    return b < count && !line.labels[a].empty() && !line.labels[b].empty() &&
           LabelIsAbove(line, a) == LabelIsAbove(line, b) &&
           x.ToPixel(line.points[b].first) - x.ToPixel(line.points[a].first) <
               kWidthOfLabel;
  };
  std::string svg;
  for (size_t i = 0; i < count; ++i) {
    const auto& [point_x, point_y] = line.points[i];
    const bool is_shown = x.Shows(point_x) && y.Shows(point_y);
    if (!is_shown || line.labels[i].empty()) continue;
    const char* anchor = i > 0 && are_close(i - 1, i) ? "start"
                         : are_close(i, i + 1)        ? "end"
                                                      : "middle";
    // The offsets keep the text off the circle around the point.
    svg += SvgText(x.ToPixel(point_x),
                   y.ToPixel(point_y) + (LabelIsAbove(line, i) ? -11 : 21),
                   anchor, line.labels[i]);
  }
  return svg;
}

std::string SvgLine(const LineChart& chart, size_t index, const Axis& x,
                    const Axis& y) {
  const LineChart::Line& line = chart.lines[index];
  const std::string colour = absl::StrCat("var(--c", index % kColourCount, ")");
  std::string path;
  std::string points;
  for (const auto& [point_x, point_y] : line.points) {
    if (!x.Shows(point_x) || !y.Shows(point_y)) continue;
    const std::string place_x = Length(x.ToPixel(point_x));
    const std::string place_y = Length(y.ToPixel(point_y));
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
                      path, "\"/>\n", points, SvgLabels(line, x, y));
}

// Draws grid, axes and lines within the frame.
std::string SvgPlot(const LineChart& chart, const Frame& frame) {
  Axis x(chart.has_logarithmic_x, frame.left, frame.width - frame.right,
         chart.has_bytes_x ? 2 : 10);
  Axis y(chart.has_logarithmic_y, frame.height - frame.bottom, frame.top);
  for (const LineChart::Line& line : chart.lines) {
    for (const auto& [point_x, point_y] : line.points) {
      x.Include(point_x);
      y.Include(point_y);
    }
  }
  x.Round();
  if (chart.may_leave_zero_out) {
    y.RoundClosely();
  } else {
    y.Round();
  }
  std::string svg = SvgGrid(chart, frame, x, y);
  for (size_t i = 0; i < chart.lines.size(); ++i) {
    absl::StrAppend(&svg, SvgLine(chart, i, x, y));
  }
  return svg;
}

// Begins the picture; `attributes` must be empty or end in a space.
std::string SvgBegin(const LineChart& chart, const Frame& frame,
                     const char* attributes) {
  return absl::StrCat("<svg ", attributes, "viewBox=\"0 0 ", frame.width, " ",
                      frame.height, "\" role=\"img\" aria-label=\"",
                      EscapeForXml(chart.title), ": ",
                      EscapeForXml(chart.y_label), " by ",
                      EscapeForXml(chart.x_label), "\">\n");
}

// Draws one name per line, since the width of a text depends on the reader's
// fonts.
std::string SvgLegend(const LineChart& chart, double top, double line_height) {
  std::string svg;
  for (size_t i = 0; i < chart.lines.size(); ++i) {
    const double y = top + line_height * static_cast<double>(i);
    absl::StrAppend(
        &svg, "<circle class=\"point\" r=\"5\" cx=\"",
        Length(kWideFrame.left + 5), "\" cy=\"", Length(y - 5),
        "\" style=\"fill:var(--c", i % kColourCount, ")\"/>",
        SvgText(kWideFrame.left + 18, y, "start", chart.lines[i].name));
  }
  return svg;
}

}  // namespace

std::string DrawLineChart(const LineChart& chart) {
  std::vector<std::string> names;
  for (const LineChart::Line& line : chart.lines) names.push_back(line.name);
  return absl::StrCat("<figure>\n", Caption(chart.title, chart.description),
                      Legend(names),
                      SvgBegin(chart, kWideFrame, "class=\"wide\" "),
                      SvgPlot(chart, kWideFrame), "</svg>\n",
                      SvgBegin(chart, kNarrowFrame, "class=\"narrow\" "),
                      SvgPlot(chart, kNarrowFrame), "</svg>\n</figure>\n");
}

std::string LineChartSvg(const LineChart& chart) {
  constexpr double kTitle = 28;
  constexpr double kDescription = 50;
  constexpr double kLegend = 76;
  constexpr double kLineHeight = 22;
  Frame frame = kWideFrame;
  // The name of the y axis is between the legend and the plot.
  frame.top =
      kLegend + kLineHeight * static_cast<double>(chart.lines.size()) + 24;
  frame.height = kWideFrame.height - kWideFrame.top + frame.top;
  return absl::StrCat(
      SvgBegin(chart, frame, "xmlns=\"http://www.w3.org/2000/svg\" "),
      "<style>", kChartColours, kChartStyle,
      "svg { font-family: system-ui, sans-serif; background: var(--paper); }\n"
      "svg .title { font-size: 17px; font-weight: 600; fill: var(--ink); }\n"
      "</style>\n<text class=\"title\" x=\"",
      Length(frame.left), "\" y=\"", Length(kTitle), "\">",
      EscapeForXml(chart.title), "</text>\n",
      SvgText(frame.left, kDescription, "start", chart.description),
      SvgLegend(chart, kLegend, kLineHeight), SvgPlot(chart, frame),
      "</svg>\n");
}

}  // namespace footprint
