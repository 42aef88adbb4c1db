// Makes charts of the peaks of a deployment's phases.
//
//   for (const StackedBars& chart : MakePhaseCharts(input, {"//app:load"})) {
//     content.AddStackedBars(chart);
//   }
//
// Pure function, thread-safe. The charts own copies of what they show.

#ifndef FOOTPRINT_GATES_EXPLAINING_PHASE_CHARTS_H_
#define FOOTPRINT_GATES_EXPLAINING_PHASE_CHARTS_H_

#include <string>
#include <vector>

#include "footprint/base/page/stacked_bars.h"
#include "footprint/gates/judge/gate_input.h"

namespace footprint {

// Returns a chart for each of the labels that has a profile with phases, in the
// order of `labels`. A chart shows the benchmark with the label's highest peak
// of live bytes: the whole and the largest phases, at most 12 bars, the largest
// first.
std::vector<StackedBars> MakePhaseCharts(
    const GateInput& input, const std::vector<std::string>& labels);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_EXPLAINING_PHASE_CHARTS_H_
