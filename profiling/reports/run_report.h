// Makes the report of a measured run, its figures, warnings and tables, once
// for all formats.
//
//   const Report report = RunReport(run);
//   std::cout << FiguresText(report);     // base/report/report_text.h
//   AddFigures(report, &page);            // base/report/report_page.h
//
// The figures are those of the process with the highest peak of its own, unless
// they say that they cover all processes. A table without data is left out,
// except that of the lines of code at the peak, whose note says why it is
// empty. A run without a process has one warning and nothing else.
//
// To add a figure or a table, write it in the file that makes its kind
// (run_tables.h); each format then has it.
//
// Pure and thread-safe if `source` is. Memory: the call sites' rows and the
// report. Time: linear in the sites, plus the sorting of their places.

#ifndef FOOTPRINT_PROFILING_REPORTS_RUN_REPORT_H_
#define FOOTPRINT_PROFILING_REPORTS_RUN_REPORT_H_

#include <cstddef>
#include <functional>
#include <string>

#include "footprint/base/report/report.h"
#include "footprint/profiling/records/measured_run.pb.h"
#include "footprint/profiling/reports/report_threshold.h"

namespace footprint {

// Returns the text of a frame's line in its source file; empty if it is
// unknown.
using SourceOfFrame = std::function<std::string(const CodeFrame& frame)>;

struct RunReportOptions {
  // Rows below these shares of the peak or of the processor time are left out
  // and counted.
  ReportThreshold memory_threshold;
  ReportThreshold cpu_threshold;
  // The most rows of one table.
  size_t most_rows = 40;
  // Whether stages that needed little are also rows, as comparisons need.
  bool has_small_stages = false;
  // The table of memory that stages left counts what was allocated in stages
  // that first began from `left_from` on and before `left_until`, and inside
  // `left_from`. If the first is empty, it counts each named stage by itself;
  // if the second is empty, it counts all stages from the first on. Memory that
  // was allocated outside of stages does not count.
  std::string left_from;
  std::string left_until;
  // If null, the report gives the places of lines without their text.
  SourceOfFrame source;
};

Report RunReport(const MeasuredRun& run, const RunReportOptions& options = {});

// Returns how the figures, the stages and the places in the code changed, as a
// report in CompareReports's form. A place is the same in both runs if
// function, file name and object name are the same, since lines move and so do
// folders.
Report ComparisonReport(const MeasuredRun& before, const MeasuredRun& after);

// The heading of the table that the page replaces with a picture of the calls.
inline constexpr char kCallPathHeading[] = "Calls to the largest places";

}  // namespace footprint

#endif  // FOOTPRINT_PROFILING_REPORTS_RUN_REPORT_H_
