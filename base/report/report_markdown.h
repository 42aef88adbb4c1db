// Writes a report as GitHub's markdown, for a comment on a change or the
// summary of a job.
//
//   absl::Status status =
//       WriteFile(summary_path, ReportMarkdown("Memory of train.py", report));
//
// The warnings come first, then the figures as a table, then each table of the
// report with at most 20 rows, folded except the first; remarks and facts are
// left out. Texts are escaped, but not headings and the names of figures and
// columns. Pure; thread-safe. Memory: the text.

#ifndef FOOTPRINT_BASE_REPORT_REPORT_MARKDOWN_H_
#define FOOTPRINT_BASE_REPORT_REPORT_MARKDOWN_H_

#include <string>

#include "absl/strings/string_view.h"
#include "footprint/base/report/report.h"

namespace footprint {

std::string ReportMarkdown(absl::string_view title, const Report& report);

}  // namespace footprint

// Tested by report_writers_test.

#endif  // FOOTPRINT_BASE_REPORT_REPORT_MARKDOWN_H_
