// Writes a comparison with the base for a terminal, for a comment on a change,
// and for programs.
//
//   std::string comment = WriteComparisonMarkdown(*comparison);
//
// Markdown and JSON contain only what differs; a change without differences
// gives one line. Names are escaped as each format needs it. Pure functions,
// thread-safe. Memory: the result.

#ifndef FOOTPRINT_GATES_EXPLAINING_COMPARISON_TEXT_H_
#define FOOTPRINT_GATES_EXPLAINING_COMPARISON_TEXT_H_

#include <string>

#include "footprint/gates/explaining/base_comparison.h"
#include "footprint/gates/explaining/diff_text.h"

namespace footprint {

// Returns "REJECT 1 of 12 deployments differs: 1 over the limit, 1 grown".
std::string SummarizeComparison(const BaseComparison& comparison);

// Returns the tree of diff_text.h, then the figures over their limit with their
// reasons, then problems and hints. The last line is the summary.
std::string WriteComparisonText(const BaseComparison& comparison,
                                const ReportTextOptions& options);

// Returns a heading and a table with a row for each figure.
std::string WriteComparisonMarkdown(const BaseComparison& comparison);

// Returns an object of "decision", "summary", "figures", "problems", "hints"
// and "diff".
std::string WriteComparisonJson(const BaseComparison& comparison);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_EXPLAINING_COMPARISON_TEXT_H_
