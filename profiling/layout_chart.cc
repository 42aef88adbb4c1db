#include "footprint/profiling/layout_chart.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "footprint/profiling/chart_drawing.h"
#include "footprint/profiling/format_bytes.h"

namespace footprint {
namespace {

using page_internal::Axis;
using page_internal::Caption;
using page_internal::Escape;
using page_internal::kColourCount;
using page_internal::kLeft;
using page_internal::kRight;
using page_internal::kTop;
using page_internal::kWidth;
using page_internal::Legend;
using page_internal::Length;
using page_internal::SvgText;

constexpr double kLayoutBottom = 430;
constexpr double kLiveTop = 452;
constexpr double kLiveBottom = 532;
constexpr double kLayoutHeight = 580;

// A layout's axes.
struct LayoutScale {
  Axis step{false, kLeft, kWidth - kRight};
  Axis bytes{false, kLayoutBottom, kTop};
  Axis live{false, kLiveBottom, kLiveTop};
  int64_t high_bytes = 0;
};

LayoutScale ScaleOf(const LayoutChart& chart) {
  LayoutScale scale;
  scale.high_bytes = chart.marked_bytes;
  for (const LayoutChart::Box& box : chart.boxes) {
    scale.step.Include(static_cast<double>(box.begin_step));
    scale.step.Include(static_cast<double>(box.end_step));
    scale.high_bytes =
        std::max(scale.high_bytes, box.offset_bytes + box.size_bytes);
  }
  scale.step.Fit();
  for (Axis* axis : {&scale.bytes, &scale.live}) {
    axis->Include(0);
    axis->Include(static_cast<double>(scale.high_bytes));
    axis->Fit();
  }
  return scale;
}

std::string SvgLayoutGrid(const LayoutScale& scale) {
  int64_t step_bytes = 1;
  while (step_bytes < scale.high_bytes / 5) step_bytes *= 2;
  std::string svg;
  for (int64_t tick = 0; tick <= scale.high_bytes; tick += step_bytes) {
    const double place = scale.bytes.Place(static_cast<double>(tick));
    absl::StrAppend(&svg, "<path class=\"grid\" d=\"M", Length(kLeft), " ",
                    Length(place), "H", Length(kWidth - kRight), "\"/>",
                    SvgText(kLeft - 10, place + 4, "end",
                            AbbreviateBytes(static_cast<double>(tick))));
    if (tick > scale.high_bytes - step_bytes) break;  // might overflow
  }
  for (const double tick : scale.step.Ticks()) {
    if (tick != std::floor(tick)) continue;
    absl::StrAppend(&svg, SvgText(scale.step.Place(tick), kLiveBottom + 20,
                                  "middle", absl::StrFormat("%.0f", tick)));
  }
  return absl::StrCat(
      svg, SvgText(kLeft - 10, kLiveTop + 12, "end", "live"),
      SvgText(kLeft, kTop - 14, "start", "offset"),
      SvgText(kWidth - kRight, kLayoutHeight - 8, "end", "step"));
}

std::string SvgBox(const LayoutChart& chart, const LayoutChart::Box& box,
                   const LayoutScale& scale) {
  constexpr double kLeastHeightOfText = 12;
  constexpr double kWidthOfLetter = 7;
  const double left = scale.step.Place(static_cast<double>(box.begin_step));
  const double right = scale.step.Place(static_cast<double>(box.end_step));
  const double low = scale.bytes.Place(static_cast<double>(box.offset_bytes));
  const double high =
      scale.bytes.Place(static_cast<double>(box.offset_bytes + box.size_bytes));
  std::string words = box.label;
  if (chart.series.size() > 1 && box.series < chart.series.size()) {
    absl::StrAppend(&words, " (", chart.series[box.series], ")");
  }
  absl::StrAppend(&words, ": ",
                  AbbreviateBytes(static_cast<double>(box.size_bytes)), " (",
                  box.size_bytes, " B) at ", box.offset_bytes, ", from step ",
                  box.begin_step, " until before ", box.end_step);
  std::string svg = absl::StrCat(
      "<rect class=\"box ", box.is_marked ? "marked" : "pale", "\" x=\"",
      Length(left), "\" y=\"", Length(high), "\" width=\"",
      Length(right - left), "\" height=\"", Length(low - high),
      "\" style=\"fill:var(--c", box.series % kColourCount, ")\"><title>");
  absl::StrAppend(&svg, Escape(words), "</title></rect>\n");
  const double text_width =
      kWidthOfLetter * static_cast<double>(box.label.size() + 1);
  if (low - high >= kLeastHeightOfText && right - left >= text_width) {
    absl::StrAppend(&svg, "<text class=\"inside\"",
                    box.is_marked
                        ? absl::StrCat(" style=\"fill:var(--t",
                                       box.series % kColourCount, ")\"")
                        : "",
                    " x=\"", Length((left + right) / 2), "\" y=\"",
                    Length((low + high) / 2 + 4), "\" text-anchor=\"middle\">",
                    Escape(box.label), "</text>\n");
  }
  return svg;
}

// The silhouette of the live bytes.
std::string SvgLiveBytes(const LayoutChart& chart, const LayoutScale& scale) {
  std::map<int64_t, int64_t> changes;
  for (const LayoutChart::Box& box : chart.boxes) {
    changes[box.begin_step] += box.size_bytes;
    changes[box.end_step] -= box.size_bytes;
  }
  std::string path;
  int64_t live_bytes = 0;
  for (const auto& [step, change] : changes) {
    live_bytes += change;
    absl::StrAppend(
        &path,
        path.empty()
            ? absl::StrCat("M", Length(kLeft), " ", Length(kLiveBottom))
            : "",
        "H", Length(scale.step.Place(static_cast<double>(step))), "V",
        Length(scale.live.Place(static_cast<double>(live_bytes))));
  }
  return absl::StrCat("<path class=\"live\" d=\"", path, "\"/>\n");
}

std::string SvgMarks(const LayoutChart& chart, const LayoutScale& scale) {
  const double level =
      scale.bytes.Place(static_cast<double>(chart.marked_bytes));
  const double step =
      scale.step.Place(static_cast<double>(chart.marked_step) + 0.5);
  return absl::StrCat(
      "<path class=\"level\" d=\"M", Length(kLeft), " ", Length(level), "H",
      Length(kWidth - kRight), "\"/>\n<path class=\"level\" d=\"M",
      Length(step), " ", Length(kTop), "V", Length(kLiveBottom), "\"/>\n",
      SvgText(kWidth - kRight, kTop - 14, "end", chart.marked_label));
}

}  // namespace

std::string DrawLayoutChart(const LayoutChart& chart) {
  std::string html;
  const LayoutScale scale = ScaleOf(chart);
  absl::StrAppend(&html, "<figure>\n", Caption(chart.title, chart.description),
                  chart.series.size() > 1 ? Legend(chart.series) : "",
                  "<div class=\"scroll\" tabindex=\"0\"><svg viewBox=\"0 0 ",
                  kWidth, " ", kLayoutHeight, "\" role=\"img\" aria-label=\"",
                  Escape(chart.title), ": ", chart.boxes.size(),
                  " boxes over steps and bytes\">\n", SvgLayoutGrid(scale));
  for (const LayoutChart::Box& box : chart.boxes) {
    absl::StrAppend(&html, SvgBox(chart, box, scale));
  }
  if (!chart.boxes.empty()) {
    absl::StrAppend(&html, SvgLiveBytes(chart, scale), SvgMarks(chart, scale));
  }
  absl::StrAppend(&html, "</svg></div>\n</figure>\n");
  return html;
}

}  // namespace footprint
