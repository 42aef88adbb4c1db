// Writes explanations of rules for a terminal and for programs.
//
//   std::cout << WriteExplanationText(explanations, options);
//
// Lines are no wider than `options.width`, except commands, which can be copied
// whole. Pure functions, thread-safe. Memory: the text.

#ifndef FOOTPRINT_GATES_EXPLAINING_EXPLANATION_TEXT_H_
#define FOOTPRINT_GATES_EXPLAINING_EXPLANATION_TEXT_H_

#include <string>
#include <vector>

#include "footprint/gates/explaining/gate_explanation.h"
#include "footprint/gates/reports/verdict_words.h"

namespace footprint {

// Returns a paragraph for each explanation.
std::string WriteExplanationText(
    const std::vector<GateExplanation>& explanations,
    const ReportOptions& options);

// Returns {"gates": [{"label", "benchmark", "phase", "metric", "rule",
// "measured", "limit", "decision", "threshold_location", "owner", "reason",
// "processes", "history", "phases", "held_at_peak", "moved_exact_values",
// "command"}]}
std::string WriteExplanationJson(
    const std::vector<GateExplanation>& explanations);

// Returns "2026-11-22  1,000 B -> 1,200 B  a cache".
std::string DescribeHistoryEntry(const HistoryEntry& entry, MetricKind metric);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_EXPLAINING_EXPLANATION_TEXT_H_
