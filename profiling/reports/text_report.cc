#include "footprint/profiling/reports/text_report.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "footprint/base/report/report.h"
#include "footprint/base/report/report_markdown.h"
#include "footprint/base/report/report_text.h"
#include "footprint/profiling/reports/report_words.h"
#include "footprint/profiling/reports/run_report.h"
#include "footprint/profiling/reports/timeline_text.h"
#include "footprint/profiling/runs/measured_images.h"

namespace footprint {
namespace {

// Highlights the peak, the headings and the warnings.
std::string Colored(absl::string_view text) {
  std::string colored;
  bool is_heading = false;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    const char* style = "";
    if (absl::StartsWith(line, "warning ")) {
      style = "\x1b[33m";
    } else if (is_heading || absl::StartsWith(line, "peak heap ")) {
      style = "\x1b[1m";
    }
    is_heading = line.empty();
    absl::StrAppend(&colored, style, line, *style == '\0' ? "" : "\x1b[0m",
                    "\n");
  }
  colored.pop_back();
  return colored;
}

}  // namespace

std::string TextReport(const MeasuredRun& run, const TextOptions& options) {
  RunReportOptions report_options;
  report_options.memory_threshold = options.memory_threshold;
  report_options.cpu_threshold = options.cpu_threshold;
  report_options.source = options.source;
  report_options.left_from = options.left_from;
  report_options.left_until = options.left_until;
  const Report report = RunReport(run, report_options);
  const MeasuredImage* const largest = LargestImage(run);
  const std::string text = absl::StrCat(
      FiguresText(report), largest == nullptr ? "" : TimelineText(*largest),
      WarningsText(report), report.tables.empty() ? "" : "\n",
      TablesText(report));
  return options.is_colored ? Colored(text) : text;
}

std::string CompareText(const MeasuredRun& before, const MeasuredRun& after) {
  const Report report = ComparisonReport(before, after);
  return absl::StrCat("before     ", ShortProgram(before), "\nafter      ",
                      ShortProgram(after), "\n", WarningsText(report),
                      report.tables.empty() ? "" : "\n", TablesText(report));
}

std::string MarkdownReport(const MeasuredRun& run) {
  Report report = RunReport(run);
  report.title = absl::StrCat("Memory of ", ShortProgram(run));
  return ReportMarkdown(report);
}

std::string MarkdownComparison(const MeasuredRun& before,
                               const MeasuredRun& after) {
  Report report = ComparisonReport(before, after);
  report.title = absl::StrCat("Memory of ", ShortProgram(before), " and of ",
                              ShortProgram(after));
  return ReportMarkdown(report);
}

}  // namespace footprint
