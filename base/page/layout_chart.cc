#include "footprint/base/page/layout_chart.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "footprint/base/page/chart_drawing.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/base/text/report_escape.h"

namespace footprint {
namespace {

using page_internal::Axis;
using page_internal::Caption;
using page_internal::kColourCount;
using page_internal::kLeft;
using page_internal::kRight;
using page_internal::kTop;
using page_internal::kWidth;
using page_internal::Legend;
using page_internal::Length;
using page_internal::SvgText;

constexpr double kLayoutBottom = 430;
constexpr double kLiveTop = 474;
constexpr double kLiveBottom = 634;
constexpr double kStepNumbers = kLiveBottom + 20;
constexpr double kSpans = kStepNumbers + 12;
constexpr double kLayoutHeight = kSpans + 28;

// The axes of a layout.
struct LayoutScale {
  Axis step{false, kLeft, kWidth - kRight};
  Axis bytes{false, kLayoutBottom, kTop};
  Axis live{false, kLiveBottom, kLiveTop};
  int64_t high_bytes = 0;
};

LayoutScale ComputeScale(const LayoutChart& chart) {
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

std::string SvgLevel(const Axis& axis, int64_t bytes) {
  const double pixel = axis.ToPixel(static_cast<double>(bytes));
  return absl::StrCat("<path class=\"grid\" d=\"M", Length(kLeft), " ",
                      Length(pixel), "H", Length(kWidth - kRight), "\"/>",
                      SvgText(kLeft - 10, pixel + 4, "end",
                              AbbreviateBytes(static_cast<double>(bytes))));
}

std::string SvgLayoutGrid(const LayoutScale& scale) {
  int64_t step_bytes = 1;
  while (step_bytes < scale.high_bytes / 5) step_bytes *= 2;
  std::string svg;
  int count = 0;
  for (int64_t tick = 0; tick <= scale.high_bytes; tick += step_bytes) {
    svg += SvgLevel(scale.bytes, tick);
    // The lower picture has less room, so it gets every second level.
    if (count++ % 2 == 0) svg += SvgLevel(scale.live, tick);
    if (tick > scale.high_bytes - step_bytes) break;  // might overflow
  }
  for (const double tick : scale.step.Ticks()) {
    if (tick != std::floor(tick)) continue;
    absl::StrAppend(&svg, SvgText(scale.step.ToPixel(tick), kStepNumbers,
                                  "middle", absl::StrFormat("%.0f", tick)));
  }
  return absl::StrCat(svg,
                      SvgText(kLeft, kTop - 14, "start", "place in memory"),
                      SvgText(kLeft, kLiveTop - 12, "start", "live bytes"),
                      SvgText(kLeft - 10, kStepNumbers, "end", "step"));
}

// Draws brackets below the steps, and lines where one span ends and the next
// begins.
std::string SvgSpans(const LayoutChart& chart, const LayoutScale& scale) {
  constexpr double kGap = 2;
  std::string svg;
  for (const LayoutChart::Span& span : chart.spans) {
    const double left =
        scale.step.ToPixel(static_cast<double>(span.begin_step));
    const double right = scale.step.ToPixel(static_cast<double>(span.end_step));
    absl::StrAppend(
        &svg, "<path class=\"span\" d=\"M", Length(left + kGap), " ",
        Length(kSpans - 5), "V", Length(kSpans), "H", Length(right - kGap), "V",
        Length(kSpans - 5), "\"/>",
        SvgText((left + right) / 2, kSpans + 18, "middle", span.label));
    if (&span == &chart.spans.front()) continue;
    absl::StrAppend(&svg, "<path class=\"span\" d=\"M", Length(left), " ",
                    Length(kTop), "V", Length(kLiveBottom), "\"/>\n");
  }
  return svg;
}

std::string SvgBox(const LayoutChart& chart, const LayoutChart::Box& box,
                   const LayoutScale& scale) {
  constexpr double kLeastHeightOfText = 12;
  constexpr double kLeastHeightOfOutline = 3;
  constexpr double kWidthOfLetter = 7;
  const double left = scale.step.ToPixel(static_cast<double>(box.begin_step));
  const double right = scale.step.ToPixel(static_cast<double>(box.end_step));
  const double low = scale.bytes.ToPixel(static_cast<double>(box.offset_bytes));
  const double high = scale.bytes.ToPixel(
      static_cast<double>(box.offset_bytes + box.size_bytes));
  std::string words = box.label;
  if (chart.series.size() > 1 && box.series < chart.series.size()) {
    absl::StrAppend(&words, " (", chart.series[box.series], ")");
  }
  absl::StrAppend(&words, ": ", FormatBytes(box.size_bytes), " at offset ",
                  FormatBytes(box.offset_bytes), ", from step ", box.begin_step,
                  " until before ", box.end_step);
  std::string svg = absl::StrCat(
      "<rect class=\"box ", box.is_marked ? "marked" : "pale",
      low - high < kLeastHeightOfOutline ? " thin" : "", "\" x=\"",
      Length(left), "\" y=\"", Length(high), "\" width=\"",
      Length(right - left), "\" height=\"", Length(low - high),
      "\" style=\"fill:var(--c", box.series % kColourCount, ")\"><title>");
  absl::StrAppend(&svg, EscapeForXml(words), "</title></rect>\n");
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
                    EscapeForXml(box.label), "</text>\n");
  }
  return svg;
}

// Returns the live bytes of each series from each of `steps` to the next.
std::vector<std::vector<int64_t>> LiveBytes(const LayoutChart& chart,
                                            const std::vector<int64_t>& steps) {
  const auto place = [&steps](int64_t step) {
    return std::lower_bound(steps.begin(), steps.end(), step) - steps.begin();
  };
  std::vector<std::vector<int64_t>> live(
      std::max<size_t>(1, chart.series.size()),
      std::vector<int64_t>(steps.size()));
  for (const LayoutChart::Box& box : chart.boxes) {
    std::vector<int64_t>& changes = live[std::min(box.series, live.size() - 1)];
    changes[place(box.begin_step)] += box.size_bytes;
    changes[place(box.end_step)] -= box.size_bytes;
  }
  for (std::vector<int64_t>& changes : live) {
    std::partial_sum(changes.begin(), changes.end(), changes.begin());
  }
  return live;
}

// Draws the area between two outlines.
std::string SvgLayer(const std::vector<int64_t>& steps,
                     const std::vector<int64_t>& low_bytes,
                     const std::vector<int64_t>& high_bytes,
                     const LayoutScale& scale) {
  const auto x = [&](size_t i) {
    return Length(scale.step.ToPixel(static_cast<double>(steps[i])));
  };
  const auto y = [&](int64_t bytes) {
    return Length(scale.live.ToPixel(static_cast<double>(bytes)));
  };
  const size_t last = steps.size() - 1;  // no bytes are live from there
  // Goes along the upper outline to the right, and back along the lower one.
  std::string path =
      absl::StrCat("M", x(0), " ", y(low_bytes[0]), "V", y(high_bytes[0]));
  for (size_t i = 1; i < last; ++i) {
    if (high_bytes[i] == high_bytes[i - 1]) continue;
    absl::StrAppend(&path, "H", x(i), "V", y(high_bytes[i]));
  }
  absl::StrAppend(&path, "H", x(last), "V", y(low_bytes[last - 1]));
  for (size_t i = last - 1; i > 0; --i) {
    if (low_bytes[i] == low_bytes[i - 1]) continue;
    absl::StrAppend(&path, "H", x(i), "V", y(low_bytes[i - 1]));
  }
  return path + "Z";
}

// Draws the live bytes, with a layer for each series.
std::string SvgLiveBytes(const LayoutChart& chart, const LayoutScale& scale) {
  std::set<int64_t> changes;
  for (const LayoutChart::Box& box : chart.boxes) {
    changes.insert(box.begin_step);
    changes.insert(box.end_step);
  }
  const std::vector<int64_t> steps(changes.begin(), changes.end());
  const std::vector<std::vector<int64_t>> live = LiveBytes(chart, steps);
  std::vector<int64_t> low_bytes(steps.size());
  std::string svg;
  if (steps.size() < 2) return svg;
  for (size_t s = 0; s < live.size(); ++s) {
    std::vector<int64_t> high_bytes = low_bytes;
    for (size_t i = 0; i < steps.size(); ++i) high_bytes[i] += live[s][i];
    const int64_t most = *std::max_element(live[s].begin(), live[s].end());
    absl::StrAppend(
        &svg, "<path class=\"live\" d=\"",
        SvgLayer(steps, low_bytes, high_bytes, scale), "\"",
        chart.series.size() > 1
            ? absl::StrCat(" style=\"fill:var(--c", s % kColourCount, ")\"")
            : "",
        "><title>",
        chart.series.size() > 1 ? EscapeForXml(chart.series[s]) + ": " : "",
        "at most ", FormatBytes(most), "</title></path>\n");
    low_bytes = std::move(high_bytes);
  }
  return svg;
}

std::string SvgMarks(const LayoutChart& chart, const LayoutScale& scale) {
  const double bytes = static_cast<double>(chart.marked_bytes);
  const double step =
      scale.step.ToPixel(static_cast<double>(chart.marked_step) + 0.5);
  std::string svg;
  for (const Axis* axis : {&scale.bytes, &scale.live}) {
    absl::StrAppend(&svg, "<path class=\"level\" d=\"M", Length(kLeft), " ",
                    Length(axis->ToPixel(bytes)), "H", Length(kWidth - kRight),
                    "\"/>\n");
  }
  return absl::StrCat(
      svg, "<path class=\"level\" d=\"M", Length(step), " ", Length(kTop), "V",
      Length(kLiveBottom), "\"/>\n",
      SvgText(kWidth - kRight, kTop - 14, "end", chart.marked_label));
}

// Returns the lowest offset at which `box` overlaps none of `stacked` (first
// fit). These must be sorted by offset.
int64_t LowestFreeOffset(const std::vector<LayoutChart::Box>& stacked,
                         const LayoutChart::Box& box) {
  int64_t offset_bytes = 0;
  for (const LayoutChart::Box& other : stacked) {
    if (other.end_step <= box.begin_step || box.end_step <= other.begin_step) {
      continue;
    }
    if (other.offset_bytes - offset_bytes >= box.size_bytes) break;
    offset_bytes =
        std::max(offset_bytes, other.offset_bytes + other.size_bytes);
  }
  return offset_bytes;
}

// The offset of each box, and the height of the stack.
struct BoxStack {
  std::vector<int64_t> offsets_bytes;
  int64_t height_bytes = 0;
};

// Stacks the boxes; those with a larger `rank` take their offsets first.
template <typename Rank>
BoxStack StackByRank(const std::vector<LayoutChart::Box>& boxes, Rank rank) {
  std::vector<size_t> order(boxes.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return rank(boxes[a]) > rank(boxes[b]);
  });
  BoxStack stack;
  stack.offsets_bytes.resize(boxes.size());
  std::vector<LayoutChart::Box> stacked;
  for (const size_t i : order) {
    LayoutChart::Box box = boxes[i];
    box.offset_bytes = LowestFreeOffset(stacked, box);
    stack.offsets_bytes[i] = box.offset_bytes;
    stack.height_bytes =
        std::max(stack.height_bytes, box.offset_bytes + box.size_bytes);
    const auto above = std::upper_bound(
        stacked.begin(), stacked.end(), box,
        [](const LayoutChart::Box& a, const LayoutChart::Box& b) {
          return a.offset_bytes < b.offset_bytes;
        });
    stacked.insert(above, std::move(box));
  }
  return stack;
}

}  // namespace

bool StackBoxes(std::vector<LayoutChart::Box>* boxes) {
  using Box = LayoutChart::Box;
  int64_t total_bytes = 0;
  for (const Box& box : *boxes) {
    if (__builtin_add_overflow(total_bytes, box.size_bytes, &total_bytes)) {
      return false;
    }
  }
  const auto size = [](const Box& box) {
    return static_cast<double>(box.size_bytes);
  };
  const auto steps = [](const Box& box) {
    return static_cast<double>(box.end_step - box.begin_step);
  };
  // Tries several orders, and takes the lowest stack.
  const BoxStack stacks[] = {
      StackByRank(*boxes, size),
      StackByRank(*boxes, steps),
      StackByRank(*boxes,
                  [&](const Box& box) { return size(box) * steps(box); }),
      StackByRank(*boxes, [](const Box& box) { return -box.begin_step; }),
  };
  const BoxStack& lowest =
      *std::min_element(std::begin(stacks), std::end(stacks),
                        [](const BoxStack& a, const BoxStack& b) {
                          return a.height_bytes < b.height_bytes;
                        });
  for (size_t i = 0; i < boxes->size(); ++i) {
    (*boxes)[i].offset_bytes = lowest.offsets_bytes[i];
  }
  return true;
}

std::string DrawLayoutChart(const LayoutChart& chart) {
  std::string html;
  const LayoutScale scale = ComputeScale(chart);
  absl::StrAppend(&html, "<figure>\n", Caption(chart.title, chart.description),
                  chart.series.size() > 1 ? Legend(chart.series) : "",
                  "<div class=\"scroll\" tabindex=\"0\"><svg viewBox=\"0 0 ",
                  kWidth, " ", kLayoutHeight, "\" role=\"img\" aria-label=\"",
                  EscapeForXml(chart.title), ": ", chart.boxes.size(),
                  " boxes over steps and bytes\">\n", SvgLayoutGrid(scale));
  for (const LayoutChart::Box& box : chart.boxes) {
    absl::StrAppend(&html, SvgBox(chart, box, scale));
  }
  if (!chart.boxes.empty()) {
    absl::StrAppend(&html, SvgLiveBytes(chart, scale), SvgSpans(chart, scale),
                    SvgMarks(chart, scale));
  }
  absl::StrAppend(&html, "</svg></div>\n</figure>\n");
  return html;
}

}  // namespace footprint
