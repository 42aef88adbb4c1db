#include "footprint/base/page/stacked_bars.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "footprint/base/page/chart_drawing.h"
#include "footprint/base/text/report_escape.h"

namespace footprint {
namespace {

using page_internal::Caption;
using page_internal::kColourCount;
using page_internal::Legend;
using page_internal::Length;
using page_internal::Percent;

// Returns the sum of the known values.
double Sum(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value > 0 ? value : 0;
  return sum;
}

// Returns the names of the unknown parts: "startup + read".
std::string UnknownParts(const StackedBars& chart,
                         const StackedBars::Bar& bar) {
  std::string names;
  for (size_t i = 0; i < bar.values.size() && i < chart.series.size(); ++i) {
    if (!std::isnan(bar.values[i])) continue;
    absl::StrAppend(&names, names.empty() ? "" : " + ", chart.series[i]);
  }
  return names;
}

// Draws one part of a bar; `width` is its share of the full width. `share` is
// that in words, or empty if it is not known.
std::string Part(const std::string& name, const std::string& value,
                 const std::string& share, double width, size_t colour) {
  constexpr double kLeastWidthOfText = 0.06;
  constexpr double kLeastWidthOfTextOnTelephone = 0.12;
  // A narrower part has no line beside it, since the line's pixel would make it
  // look larger.
  constexpr double kLeastWidthOfLine = 0.01;
  std::string text;
  if (!share.empty() && width >= kLeastWidthOfText) {
    text = width < kLeastWidthOfTextOnTelephone
               ? absl::StrCat("<span class=\"small\">", EscapeForXml(share),
                              "</span>")
               : EscapeForXml(share);
  }
  colour %= kColourCount;
  const std::string words =
      absl::StrCat(name, ": ", value, share.empty() ? "" : " (", share,
                   share.empty() ? "" : ")");
  return absl::StrCat(
      "<span class=\"part", width >= kLeastWidthOfLine ? " lined" : "",
      "\" style=\"flex:0 1 ", Length(100 * width), "%;background:var(--c",
      colour, ");color:var(--t", colour, ")\" title=\"", EscapeForXml(words),
      "\">", text, "</span>");
}

std::string BarRow(const StackedBars& chart, const StackedBars::Bar& bar,
                   double full_width) {
  const double total = Sum(bar.values);
  const std::string unknown = UnknownParts(chart, bar);
  std::string words;
  std::string parts;
  for (size_t i = 0; i < bar.values.size() && i < chart.series.size(); ++i) {
    const double value = bar.values[i];
    if (!(value > 0)) continue;
    const std::string text = chart.format(value);
    // A single part is always the whole.
    const bool has_share = unknown.empty() && chart.series.size() > 1;
    const std::string share = has_share ? Percent(value / total) : "";
    absl::StrAppend(&words, words.empty() ? "" : ", ", chart.series[i], " ",
                    text, share.empty() ? "" : " (", share,
                    share.empty() ? "" : ")");
    absl::StrAppend(&parts, Part(chart.series[i], text, share,
                                 value / full_width, chart.first_colour + i));
  }
  if (!unknown.empty()) {
    const std::string note = absl::StrCat(unknown, " unknown");
    absl::StrAppend(&words, words.empty() ? "" : ", ", note);
    // Shares cannot be drawn without the sum.
    if (chart.scale == StackedBars::Scale::kShare) {
      parts = absl::StrCat("<span class=\"unknown\">", EscapeForXml(note),
                           "</span>");
    }
  }
  return absl::StrCat(
      "<tr><th scope=\"row\">", EscapeForXml(bar.label),
      "</th><td><div class=\"bar\" role=\"img\" aria-label=\"",
      EscapeForXml(words.empty() ? "nothing" : words), "\">", parts,
      "</div></td><td class=\"total\">", EscapeForXml(chart.format(total)),
      unknown.empty() ? "" : " + ", EscapeForXml(unknown), "</td></tr>\n");
}

}  // namespace

std::string DrawStackedBars(const StackedBars& chart) {
  std::string html;
  double largest = 0;
  for (const StackedBars::Bar& bar : chart.bars) {
    largest = std::max(largest, Sum(bar.values));
  }
  absl::StrAppend(&html, "<figure>\n", Caption(chart.title, chart.description),
                  Legend(chart.series, chart.first_colour),
                  "<table class=\"bars\">\n");
  for (const StackedBars::Bar& bar : chart.bars) {
    const bool is_share = chart.scale == StackedBars::Scale::kShare;
    const double full_width = is_share ? Sum(bar.values) : largest;
    absl::StrAppend(&html, BarRow(chart, bar, full_width));
  }
  absl::StrAppend(&html, "</table>\n</figure>\n");
  return html;
}

}  // namespace footprint
