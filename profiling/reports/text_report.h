// Writes the memory and time that a run needed as text for a terminal or as a
// page in GitHub's Markdown, and what changed from one run to another.
//
//   TextOptions options;
//   options.is_colored = isatty(STDERR_FILENO);
//   std::cerr << TextReport(run, options);
//
// The figures come from run_report.h; this code formats them. Pure;
// thread-safe. Memory: the text and the report.

#ifndef FOOTPRINT_PROFILING_REPORTS_TEXT_REPORT_H_
#define FOOTPRINT_PROFILING_REPORTS_TEXT_REPORT_H_

#include <string>

#include "footprint/profiling/records/measured_run.pb.h"
#include "footprint/profiling/reports/report_threshold.h"
#include "footprint/profiling/reports/run_report.h"

namespace footprint {

struct TextOptions {
  bool is_colored = false;
  // The thresholds of the peak and of the processor time.
  ReportThreshold memory_threshold;
  ReportThreshold cpu_threshold;
  // As in RunReportOptions.
  std::string left_from = {};
  std::string left_until = {};
  // If null, the report has no source lines.
  SourceOfFrame source = nullptr;
};

// TextReport and CompareText return text for a terminal; MarkdownReport and
// MarkdownComparison return Markdown.
std::string TextReport(const MeasuredRun& run, const TextOptions& options = {});
std::string CompareText(const MeasuredRun& before, const MeasuredRun& after);

std::string MarkdownReport(const MeasuredRun& run);
std::string MarkdownComparison(const MeasuredRun& before,
                               const MeasuredRun& after);

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_REPORTS_TEXT_REPORT_H_
