#include "footprint/profiling/stacked_bars.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "footprint/profiling/chart_drawing.h"

namespace footprint {
namespace {

using page_internal::Caption;
using page_internal::Escape;
using page_internal::kColourCount;
using page_internal::Legend;
using page_internal::Length;
using page_internal::Percent;

double Sum(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}

// One part of a bar; `width` is its share of the full width.
std::string Part(const std::string& name, const std::string& value,
                 double share, double width, size_t colour) {
  constexpr double kLeastWidthOfText = 0.06;
  constexpr double kLeastWidthOfTextOnTelephone = 0.12;
  std::string text;
  if (width >= kLeastWidthOfText) {
    text = width < kLeastWidthOfTextOnTelephone
               ? absl::StrCat("<span class=\"small\">", Escape(Percent(share)),
                              "</span>")
               : Escape(Percent(share));
  }
  colour %= kColourCount;
  return absl::StrCat(
      "<span class=\"part\" style=\"flex:0 1 ", Length(100 * width),
      "%;background:var(--c", colour, ");color:var(--t", colour, ")\" title=\"",
      Escape(absl::StrCat(name, ": ", value, " (", Percent(share), ")")), "\">",
      text, "</span>");
}

std::string BarRow(const StackedBars& chart, const StackedBars::Bar& bar,
                   double full_width) {
  const double total = Sum(bar.values);
  std::string words;
  std::string parts;
  for (size_t i = 0; i < bar.values.size() && i < chart.series.size(); ++i) {
    const double value = bar.values[i];
    if (!(value > 0)) continue;
    const std::string text = chart.format(value);
    absl::StrAppend(&words, words.empty() ? "" : ", ", chart.series[i], " ",
                    text, " (", Percent(value / total), ")");
    absl::StrAppend(&parts, Part(chart.series[i], text, value / total,
                                 value / full_width, i));
  }
  return absl::StrCat("<tr><th scope=\"row\">", Escape(bar.label),
                      "</th><td><div class=\"bar\" role=\"img\" aria-label=\"",
                      Escape(words.empty() ? "nothing" : words), "\">", parts,
                      "</div></td><td class=\"total\">",
                      Escape(chart.format(total)), "</td></tr>\n");
}

}  // namespace

std::string DrawStackedBars(const StackedBars& chart) {
  std::string html;
  double largest = 0;
  for (const StackedBars::Bar& bar : chart.bars) {
    largest = std::max(largest, Sum(bar.values));
  }
  absl::StrAppend(&html, "<figure>\n", Caption(chart.title, chart.description),
                  Legend(chart.series), "<table class=\"bars\">\n");
  for (const StackedBars::Bar& bar : chart.bars) {
    const bool is_share = chart.scale == StackedBars::Scale::kShare;
    const double full_width = is_share ? Sum(bar.values) : largest;
    absl::StrAppend(&html, BarRow(chart, bar, full_width));
  }
  absl::StrAppend(&html, "</table>\n</figure>\n");
  return html;
}

}  // namespace footprint
