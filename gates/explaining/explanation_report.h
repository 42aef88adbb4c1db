// Makes the report of explanations of rules.
//
//   std::cout << ReportText(MakeExplanationReport(explanations), options);
//
// Each explanation is a part of the report. Pure functions, thread-safe.
// Memory: the texts.

#ifndef FOOTPRINT_GATES_EXPLAINING_EXPLANATION_REPORT_H_
#define FOOTPRINT_GATES_EXPLAINING_EXPLANATION_REPORT_H_

#include <string>
#include <vector>

#include "footprint/base/report/report.h"
#include "footprint/gates/explaining/gate_explanation.h"

namespace footprint {

Report MakeExplanationReport(const std::vector<GateExplanation>& explanations);

// Returns "2026-11-22  1,000 B -> 1,200 B  a cache".
std::string DescribeHistoryEntry(const HistoryEntry& entry, MetricKind metric);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_EXPLAINING_EXPLANATION_REPORT_H_
