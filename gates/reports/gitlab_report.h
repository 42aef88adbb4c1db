// Writes a verdict as GitLab's code quality report. It has only findings, since
// a merge request shows each entry as something that got worse.
//
//   WriteFile("gl-code-quality-report.json", WriteGitlabReport(verdict, {}));
//
// Severities: "blocker" is a rejection, "critical" something that could not be
// judged, "minor" a warning, and "info" a problem that does not change the
// verdict. A finding without a file is at line 1 of its package's BUILD.
// Fingerprints are unique in the report and stay the same when lines move.
//
// Pure function, thread-safe. Memory: three times the report.

#ifndef FOOTPRINT_GATES_REPORTS_GITLAB_REPORT_H_
#define FOOTPRINT_GATES_REPORTS_GITLAB_REPORT_H_

#include <string>

#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/reports/verdict_words.h"

namespace footprint {

std::string WriteGitlabReport(const Verdict& verdict,
                              const ReportOptions& options);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_REPORTS_GITLAB_REPORT_H_
