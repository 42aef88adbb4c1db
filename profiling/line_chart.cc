#include "footprint/profiling/line_chart.h"

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "footprint/profiling/chart_drawing.h"

namespace footprint {
namespace {

using page_internal::Axis;
using page_internal::Caption;
using page_internal::Escape;
using page_internal::kBottom;
using page_internal::kColourCount;
using page_internal::kHeight;
using page_internal::kLeft;
using page_internal::kRight;
using page_internal::kTop;
using page_internal::kWidth;
using page_internal::Legend;
using page_internal::Length;
using page_internal::SvgText;

std::string FormatWith(const std::function<std::string(double)>& format,
                       double value) {
  return format ? format(value) : absl::StrFormat("%g", value);
}

std::string SvgGrid(const LineChart& chart, const Axis& x, const Axis& y) {
  std::string svg;
  for (const double tick : y.Ticks()) {
    const double place = y.Place(tick);
    absl::StrAppend(&svg, "<path class=\"grid\" d=\"M", Length(kLeft), " ",
                    Length(place), "H", Length(kWidth - kRight), "\"/>",
                    SvgText(kLeft - 10, place + 4, "end",
                            FormatWith(chart.format_y, tick)));
  }
  for (const double tick : x.Ticks()) {
    absl::StrAppend(&svg, SvgText(x.Place(tick), kHeight - kBottom + 20,
                                  "middle", FormatWith(chart.format_x, tick)));
  }
  return absl::StrCat(
      svg, SvgText(kLeft, kTop - 14, "start", chart.y_label),
      SvgText(kWidth - kRight, kHeight - 8, "end", chart.x_label));
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
        Escape(absl::StrCat(line.name, ", ",
                            FormatWith(chart.format_x, point_x), ": ",
                            FormatWith(chart.format_y, point_y))),
        "</title></circle>\n");
  }
  return absl::StrCat("<path class=\"line\" style=\"stroke:", colour, "\" d=\"",
                      path, "\"/>\n", points);
}

}  // namespace

std::string DrawLineChart(const LineChart& chart) {
  std::string html;
  Axis x(chart.has_logarithmic_x, kLeft, kWidth - kRight);
  Axis y(chart.has_logarithmic_y, kHeight - kBottom, kTop);
  std::vector<std::string> names;
  for (const LineChart::Line& line : chart.lines) {
    names.push_back(line.name);
    for (const auto& [point_x, point_y] : line.points) {
      x.Include(point_x);
      y.Include(point_y);
    }
  }
  x.Round();
  y.Round();
  absl::StrAppend(&html, "<figure>\n", Caption(chart.title, chart.description),
                  Legend(names), "<div class=\"scroll\" tabindex=\"0\">",
                  "<svg viewBox=\"0 0 ", kWidth, " ", kHeight,
                  "\" role=\"img\" aria-label=\"", Escape(chart.title), ": ",
                  Escape(chart.y_label), " by ", Escape(chart.x_label), "\">\n",
                  SvgGrid(chart, x, y));
  for (size_t i = 0; i < chart.lines.size(); ++i) {
    absl::StrAppend(&html, SvgLine(chart, i, x, y));
  }
  absl::StrAppend(&html, "</svg></div>\n</figure>\n");
  return html;
}

}  // namespace footprint
