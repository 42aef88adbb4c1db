// A bar chart for a page (page.h).
//
//   StackedBars chart;
//   chart.title = "Share of the peak";
//   chart.series = {"read", "fit"};
//   chart.bars = {{"10 x 1,000", {1200, 800}}};
//   std::string html = DrawStackedBars(chart);
//
// Parts are to scale, however small. A bar with an unknown part has no shares:
// it says which part is unknown, and the sum of the other parts.
//
// Text is escaped; equal data give equal bytes. Pure apart from `format`, which
// DrawStackedBars calls. The result owns its text. Thread-safe. Memory: the
// text.

#ifndef FOOTPRINT_BASE_PAGE_STACKED_BARS_H_
#define FOOTPRINT_BASE_PAGE_STACKED_BARS_H_

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "footprint/base/text/format_bytes.h"

namespace footprint {

// One bar per row, with one part per series and with the bar's total at its
// end.
struct StackedBars {
  enum class Scale {
    kShare,     // every bar has the full width
    kAbsolute,  // the largest total has the full width
  };
  struct Bar {
    std::string label;
    // One value per series, none negative; NaN: unknown.
    std::vector<double> values;
  };

  std::string title;
  std::string description;
  std::vector<std::string> series;  // at most 8 have different colours
  // The colour of the first series, so that charts without some of the series
  // have the same colours for the others.
  size_t first_colour = 0;
  std::vector<Bar> bars;
  Scale scale = Scale::kShare;
  std::function<std::string(double)> format = AbbreviateBytes;
};

// Returns the chart as HTML.
std::string DrawStackedBars(const StackedBars& chart);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_PAGE_STACKED_BARS_H_
