// Makes charts of how measured memory grows with the sizes of benchmarks.
//
//   for (const LineChart& chart : ScalingCharts(input)) {
//     content.AddLineChart(chart);
//   }
//
// First comes a chart for each scaling rule: the measured values, the law, and
// the limits at sizes that are not measured here. Then comes a chart of peak
// live bytes for each family of benchmarks that differ in one argument, with or
// without a rule. A line needs at least three sizes, of which the largest is at
// least four times the smallest; a chart has at most eight lines.
//
// Pure function, thread-safe; results own copies. Memory: the points. Time: a
// fit for each chart.

#ifndef FOOTPRINT_GATES_EXPLAINING_SCALING_CHARTS_H_
#define FOOTPRINT_GATES_EXPLAINING_SCALING_CHARTS_H_

#include <vector>

#include "footprint/base/page/line_chart.h"
#include "footprint/gates/judge/gate_input.h"

namespace footprint {

// Returns the charts of the rules, then those of the families.
std::vector<LineChart> ScalingCharts(const GateInput& input);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_EXPLAINING_SCALING_CHARTS_H_
