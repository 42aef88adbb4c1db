// A comparison with the base for a terminal, for a comment on a change, and for
// programs.
//
//   std::string comment = WriteComparisonMarkdown(*comparison);
//
// Markdown and JSON hold only what differs; a change that differs in nothing is
// one line. Names are escaped for each. Pure functions, thread-safe; the result
// is all their memory.

#ifndef FOOTPRINT_GATES_EXPLAINING_COMPARISON_TEXT_H_
#define FOOTPRINT_GATES_EXPLAINING_COMPARISON_TEXT_H_

#include <string>

#include "footprint/gates/explaining/base_comparison.h"
#include "footprint/gates/explaining/diff_text.h"

namespace footprint {

// "REJECT 1 of 12 deployments differs: 1 figure over its limit, 1 grown, 1
// new".
std::string SummarizeComparison(const BaseComparison& comparison);

// The tree of diff_text.h, what is over its limit with its reasons, problems
// and hints; the last line is the summary.
std::string WriteComparisonText(const BaseComparison& comparison,
                                const DiffTextOptions& options);

// A heading and a table with a row for each figure.
std::string WriteComparisonMarkdown(const BaseComparison& comparison);

// {"decision", "summary", "figures", "problems", "hints", "diff"}.
std::string WriteComparisonJson(const BaseComparison& comparison);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_EXPLAINING_COMPARISON_TEXT_H_
