// Writes a verdict as Markdown, for merge requests.
//
//   std::string page = WriteMarkdownReport(verdict, options);
//
// The report has a table of the deployments or, with every rule, a table for
// each deployment; then the rejections, warnings and problems. Pure function,
// thread-safe. Memory: the text.

#ifndef FOOTPRINT_GATES_REPORTS_MARKDOWN_REPORT_H_
#define FOOTPRINT_GATES_REPORTS_MARKDOWN_REPORT_H_

#include <string>

#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/reports/verdict_words.h"

namespace footprint {

std::string WriteMarkdownReport(const Verdict& verdict,
                                const ReportOptions& options);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_REPORTS_MARKDOWN_REPORT_H_
