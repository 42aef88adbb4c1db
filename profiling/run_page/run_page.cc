#include "footprint/profiling/run_page/run_page.h"

#include "absl/strings/str_cat.h"
#include "footprint/base/page/page.h"
#include "footprint/base/report/report.h"
#include "footprint/base/report/report_page.h"
#include "footprint/profiling/reports/report_words.h"
#include "footprint/profiling/reports/run_report.h"
#include "footprint/profiling/run_page/page_sections.h"

namespace footprint {
namespace {

std::string PageWithin(const MeasuredRun& run, const Report& report,
                       const PageLimits& limits) {
  Page page(absl::StrCat("Memory of ", ShortProgram(run)),
            absl::StrCat("Measured by memprof, ",
                         run.images_size() == 1
                             ? "one process"
                             : absl::StrCat(run.images_size(), " processes"),
                         ", ", Seconds(run.wall_time_ns()), "."));
  AddWarnings(report, &page);
  AddFigures(report, &page);
  AddTimelines(run, limits, &page);
  const bool has_calls = AddCalls(run, limits, &page);
  for (const ReportTable& table : report.tables) {
    if (has_calls && table.heading == kCallPathHeading) continue;
    AddTable(table, limits.table_rows, &page);
  }
  AddRemarks(report, &page);
  return page.Html();
}

}  // namespace

std::string RunPage(const MeasuredRun& run, const RunReportOptions& options) {
  const Report report = RunReport(run, options);
  PageLimits limits;
  std::string html = PageWithin(run, report, limits);
  // Only names of thousands of characters that HTML must escape make this
  // necessary.
  while (html.size() > kMostPageBytes && limits.table_rows > 2) {
    limits.flame_graph_bytes /= 2;
    limits.table_rows /= 2;
    limits.timeline_points /= 2;
    html = PageWithin(run, report, limits);
  }
  return html;
}

}  // namespace footprint
