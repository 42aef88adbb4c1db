// The lines of a chart, from comma-separated values.
//
//   line,x,y,label
//   streamed,4194304,190,1 MiB
//   streamed,5242880,200,
//
//   absl::StatusOr<std::vector<LineChart::Line>> lines =
//       ParseChartLines("points.csv", text);
//
// Pure function, thread-safe. Memory and time: linear.

#ifndef FOOTPRINT_BASE_PAGE_LINE_CHART_CSV_H_
#define FOOTPRINT_BASE_PAGE_LINE_CHART_CSV_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/page/line_chart.h"

namespace footprint {

// A point each row, in the order of the rows; lines in the order of their first
// points. The header is "line,x,y,label", and a label may be empty.
// kInvalidArgument "NAME:LINE:COLUMN: ...".
absl::StatusOr<std::vector<LineChart::Line>> ParseChartLines(
    absl::string_view name, absl::string_view text);

}  // namespace footprint

#endif  // FOOTPRINT_BASE_PAGE_LINE_CHART_CSV_H_
