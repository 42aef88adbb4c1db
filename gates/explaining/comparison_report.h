// Makes the report of a comparison with the base.
//
//   std::string comment = ReportMarkdown(MakeComparisonReport(*comparison));
//
// It has only what differs: the figures, of which a terminal shows those over
// their limit, and the trees of diff_report.h. Problems are warnings, and hints
// are notes. Pure; thread-safe. Memory: that of the report of the differences.

#ifndef FOOTPRINT_GATES_EXPLAINING_COMPARISON_REPORT_H_
#define FOOTPRINT_GATES_EXPLAINING_COMPARISON_REPORT_H_

#include "footprint/base/report/report.h"
#include "footprint/gates/explaining/base_comparison.h"

namespace footprint {

Report MakeComparisonReport(const BaseComparison& comparison);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_EXPLAINING_COMPARISON_REPORT_H_
