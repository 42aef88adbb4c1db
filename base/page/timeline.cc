#include "footprint/base/page/timeline.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "footprint/base/page/chart_drawing.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/base/text/report_escape.h"

namespace footprint {
namespace page_internal {

const char kTimelineStyle[] = R"css(
.timeline-read { border-radius: 6px; touch-action: pan-y; }
.timeline-read:focus-visible { outline: 2px solid var(--accent);
  outline-offset: 4px; }
.timeline-told { min-height: 1.5em; font-size: .9rem; margin: .25rem 0 0;
  color: var(--soft); font-variant-numeric: tabular-nums; }
svg .area { fill-opacity: .45; stroke-width: 1.5; stroke-linejoin: round; }
svg .mark { stroke: var(--ink); stroke-width: 1.5; stroke-dasharray: 5 4; }
svg .mark-point { fill: var(--ink); stroke: var(--paper); stroke-width: 2; }
svg text.mark-label { fill: var(--ink); font-weight: 600; }
svg .cursor { stroke: var(--accent); stroke-width: 1.5; }
)css";

}  // namespace page_internal

namespace {

using page_internal::Axis;
using page_internal::Caption;
using page_internal::Frame;
using page_internal::kColourCount;
using page_internal::kNarrowFrame;
using page_internal::kTimelineBegin;
using page_internal::kWideFrame;
using page_internal::Legend;
using page_internal::Length;
using page_internal::ScriptText;
using page_internal::SvgText;

struct Axes {
  Axis x;
  Axis y;
};

double Seconds(int64_t ns) { return static_cast<double>(ns) * 1e-9; }

// Returns the unit of the y axis, chosen by the largest figure so that ticks
// are whole.
double UnitBytes(const Timeline& timeline) {
  double most = 0;
  for (const Timeline::Point& point : timeline.points) {
    most = std::max(most, static_cast<double>(point.bytes));
  }
  double unit = 1;
  while (most >= 1024 * unit) unit *= 1024;
  return unit;
}

Axes ComputeAxes(const Timeline& timeline, const Frame& frame, double unit) {
  Axes axes{Axis(false, frame.left, frame.width - frame.right),
            Axis(false, frame.height - frame.bottom, frame.top)};
  for (const Timeline::Point& point : timeline.points) {
    axes.x.Include(Seconds(point.time_ns));
    axes.y.Include(static_cast<double>(point.bytes) / unit);
  }
  axes.x.Fit();
  axes.y.Round();
  return axes;
}

std::string SvgGrid(const Frame& frame, const Axes& axes, double unit) {
  std::string svg;
  for (const double tick : axes.y.Ticks()) {
    const double pixel = axes.y.ToPixel(tick);
    absl::StrAppend(&svg, "<path class=\"grid\" d=\"M", Length(frame.left), " ",
                    Length(pixel), "H", Length(frame.width - frame.right),
                    "\"/>",
                    SvgText(frame.left - 10, pixel + 4, "end",
                            tick == 0 ? "0" : AbbreviateBytes(tick * unit)));
  }
  for (const double tick : axes.x.Ticks(frame.tick_count)) {
    absl::StrAppend(
        &svg, SvgText(axes.x.ToPixel(tick), frame.height - frame.bottom + 20,
                      "middle", absl::StrFormat("%g s", tick)));
  }
  return svg;
}

// Draws an area for each run of points of one series.
std::string SvgAreas(const Timeline& timeline, const Axes& axes, double unit) {
  const std::vector<Timeline::Point>& points = timeline.points;
  const auto place = [&](size_t i) {
    return absl::StrFormat(
        "%.1f %.1f", axes.x.ToPixel(Seconds(points[i].time_ns)),
        axes.y.ToPixel(static_cast<double>(points[i].bytes) / unit));
  };
  const std::string ground = Length(axes.y.ToPixel(0));
  std::string svg;
  for (size_t begin = 0; begin + 1 < points.size();) {
    size_t end = begin + 1;
    while (end + 1 < points.size() &&
           points[end].series == points[begin].series) {
      ++end;
    }
    std::string line = absl::StrCat("M", place(begin));
    for (size_t i = begin + 1; i <= end; ++i) {
      absl::StrAppend(&line, "L", place(i));
    }
    const std::string colour =
        absl::StrCat("var(--c", points[begin].series % kColourCount, ")");
    absl::StrAppend(&svg, "<path class=\"area\" style=\"fill:", colour,
                    "\" d=\"", line, "V", ground, "H",
                    Length(axes.x.ToPixel(Seconds(points[begin].time_ns))),
                    "Z\"/><path class=\"line\" style=\"stroke:", colour,
                    "\" d=\"", line, "\"/>\n");
    begin = end;
  }
  return svg;
}

std::string SvgMark(const Timeline& timeline, const Frame& frame,
                    const Axes& axes, double unit) {
  if (timeline.marked_point >= timeline.points.size()) return "";
  const Timeline::Point& peak = timeline.points[timeline.marked_point];
  const double x = axes.x.ToPixel(Seconds(peak.time_ns));
  const double y = axes.y.ToPixel(static_cast<double>(peak.bytes) / unit);
  const double middle = (frame.left + frame.width - frame.right) / 2;
  return absl::StrCat(
      "<path class=\"mark\" d=\"M", Length(x), " ", Length(frame.top - 8), "V",
      Length(frame.height - frame.bottom),
      "\"/><circle class=\"mark-point\" r=\"5\" cx=\"", Length(x), "\" cy=\"",
      Length(y), "\"/><text class=\"mark-label\" x=\"", Length(x), "\" y=\"",
      Length(frame.top - 14), "\" text-anchor=\"", x > middle ? "end" : "start",
      "\">", EscapeForXml(timeline.marked_label), "</text>\n");
}

// Draws the picture. The script finds the plot by the numbers in data-plot.
std::string Svg(const Timeline& timeline, const Frame& frame,
                const char* name) {
  const double unit = UnitBytes(timeline);
  const Axes axes = ComputeAxes(timeline, frame, unit);
  return absl::StrCat("<svg class=\"", name, "\" viewBox=\"0 0 ", frame.width,
                      " ", frame.height, "\" data-plot=\"", frame.left, " ",
                      frame.top, " ", frame.width - frame.right, " ",
                      frame.height - frame.bottom, "\" aria-hidden=\"true\">\n",
                      SvgGrid(frame, axes, unit),
                      SvgAreas(timeline, axes, unit),
                      SvgMark(timeline, frame, axes, unit), "</svg>\n");
}

std::string Data(const Timeline& timeline) {
  std::string times;
  std::string bytes;
  std::string series;
  for (const Timeline::Point& point : timeline.points) {
    const char* const comma = times.empty() ? "" : ",";
    absl::StrAppend(&times, comma, point.time_ns);
    absl::StrAppend(&bytes, comma, point.bytes);
    absl::StrAppend(&series, comma, point.series);
  }
  std::string names;
  for (const std::string& name : timeline.series) {
    absl::StrAppend(&names, names.empty() ? "" : ",", ScriptText(name));
  }
  return absl::StrCat("{\"times\":[", times, "],\n\"bytes\":[", bytes,
                      "],\n\"series\":[", series, "],\n\"names\":[", names,
                      "],\n\"marked\":", timeline.marked_point, "}");
}

}  // namespace

std::string DrawTimeline(const Timeline& timeline) {
  const bool has_mark = timeline.marked_point < timeline.points.size();
  const int64_t bytes =
      has_mark ? timeline.points[timeline.marked_point].bytes : 0;
  return absl::StrCat(
      kTimelineBegin, "\n", Caption(timeline.title, timeline.description),
      timeline.series.size() > 1 ? Legend(timeline.series) : "",
      "<div class=\"timeline-read\" role=\"img\" aria-label=\"",
      EscapeForXml(timeline.title), ": ", EscapeForXml(timeline.marked_label),
      ", ", FormatBytes(bytes), "\">\n", Svg(timeline, kWideFrame, "wide"),
      Svg(timeline, kNarrowFrame, "narrow"),
      "</div>\n<p class=\"timeline-told\"></p>\n"
      "<script type=\"application/json\">",
      Data(timeline), "</script>\n</figure>\n");
}

}  // namespace footprint
