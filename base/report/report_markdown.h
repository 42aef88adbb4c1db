// Writes a report as GitHub's markdown, for a comment on a change or the
// summary of a job.
//
//   absl::Status status =
//       WriteOutputFile(summary_path, ReportMarkdown(report));
//
// The title and the summary come first, then the warnings, the figures as a
// table, then each table of the report, folded except the first, and then each
// part in the same way. A table that is not a list has at most 20 rows, and at
// most 90 bytes of each text that is not a command. Remarks and facts are left
// out. Every text is escaped. Pure; thread-safe. Memory: the text, and a copy
// of one table at a time.

#ifndef FOOTPRINT_BASE_REPORT_REPORT_MARKDOWN_H_
#define FOOTPRINT_BASE_REPORT_REPORT_MARKDOWN_H_

#include <string>

#include "footprint/base/report/report.h"

namespace footprint {

std::string ReportMarkdown(const Report& report);

}  // namespace footprint

// Tested by report_writers_test.

#endif  // FOOTPRINT_BASE_REPORT_REPORT_MARKDOWN_H_
