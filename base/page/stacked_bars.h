// A bar chart for a page (page.h).
//
//   StackedBars chart;
//   chart.title = "Share of the peak";
//   chart.series = {"read", "fit"};
//   chart.bars = {{"10 x 1,000", {1200, 800}}};
//   std::string html = DrawStackedBars(chart);
//
// Parts are to scale, however small. A bar with a part that is not known has no
// shares: it says which part that is, and what the others are at least.
//
// Text is escaped; equal data give equal bytes. Pure but for `format`, which is
// called before DrawStackedBars returns: the text has copies. Thread-safe.
// Memory: the text.

#ifndef FOOTPRINT_BASE_PAGE_STACKED_BARS_H_
#define FOOTPRINT_BASE_PAGE_STACKED_BARS_H_

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "footprint/base/text/format_bytes.h"

namespace footprint {

// One bar a row, made of one part a series, with the bar's total at its end.
struct StackedBars {
  enum class Scale {
    kShare,     // every bar has the full width
    kAbsolute,  // the largest total has the full width
  };
  struct Bar {
    std::string label;
    // One a series, none negative; NaN: not known.
    std::vector<double> values;
  };

  std::string title;
  std::string description;
  std::vector<std::string> series;  // at most 8 are told apart by colour
  // The colour of the first series, so that charts that leave some out colour
  // alike.
  size_t first_colour = 0;
  std::vector<Bar> bars;
  Scale scale = Scale::kShare;
  std::function<std::string(double)> format = AbbreviateBytes;
};

std::string DrawStackedBars(const StackedBars& chart);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_PAGE_STACKED_BARS_H_
