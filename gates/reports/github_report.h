// Writes a verdict for GitHub's job log and for a step's summary.
//
//   std::fputs(WriteGithubReport(verdict, options).c_str(), stdout);
//   AppendFile(step_summary_path, WriteGithubSummary(verdict, options));
//
// The log has the text report, in which GitHub executes no command, whatever
// the name of a benchmark. Then come annotations at the lines of limits: errors
// for rejections and for what could not be judged, then warnings, and last the
// summary as a notice. GitHub shows kGithubMostAnnotations of each kind in a
// step, so no more are written, and the notice says how many are left out.
//
// The summary is the Markdown report. GitHub accepts at most
// kGithubMostSummaryBytes. A longer report keeps its findings rather than its
// tables, and its end says how many lines are left out.
//
// Pure functions, thread-safe. Memory: twice the report.

#ifndef FOOTPRINT_GATES_REPORTS_GITHUB_REPORT_H_
#define FOOTPRINT_GATES_REPORTS_GITHUB_REPORT_H_

#include <cstddef>
#include <string>

#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/reports/verdict_words.h"

namespace footprint {

inline constexpr int kGithubMostAnnotations = 10;
inline constexpr size_t kGithubMostSummaryBytes = 1024 * 1024;

// Returns the text for the job log.
std::string WriteGithubReport(const Verdict& verdict,
                              const ReportOptions& options);

// Returns the Markdown for the step's summary.
std::string WriteGithubSummary(const Verdict& verdict,
                               const ReportOptions& options);

}  // namespace footprint

#endif  // FOOTPRINT_GATES_REPORTS_GITHUB_REPORT_H_
