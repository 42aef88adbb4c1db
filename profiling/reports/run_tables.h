// The parts of a run's report (run_report.h), a function each. `image` is the
// process that the report is about.
//
//   AddFigures(run, image, rows, &report);
//
// Each adds nothing if the run has no figures for it. Pure; thread-safe.
// Memory: what they add.

#ifndef FOOTPRINT_PROFILING_REPORTS_RUN_TABLES_H_
#define FOOTPRINT_PROFILING_REPORTS_RUN_TABLES_H_

#include <vector>

#include "footprint/base/report/report.h"
#include "footprint/profiling/records/measured_run.pb.h"
#include "footprint/profiling/reports/run_report.h"
#include "footprint/profiling/runs/own_lines.h"
#include "footprint/profiling/runs/site_rows.h"

namespace footprint {

// Peak, when and where; resident, mapped, allocated; a container's limit.
void AddRunFigures(const MeasuredRun& run, const MeasuredImage& image,
                   const std::vector<SiteRow>& rows,
                   const std::vector<OwnLine>& own_lines, Report* report);

// Gaps in the figures, so that nobody takes them for the whole.
void AddRunWarnings(const MeasuredRun& run, const MeasuredImage& image,
                    Report* report);

// Returns how the run was measured, on which machine, and what was not
// measured.
void AddRunRemarks(const MeasuredRun& run, const MeasuredImage& image,
                   Report* report);

// Whose data the peak is.
void AddPeakOwners(const MeasuredRun& run, const MeasuredImage& image,
                   Report* report);

// Stages that the program names, imports and data files, as a tree.
void AddStageTable(const MeasuredImage& image, const RunReportOptions& options,
                   Report* report);

// Adds the lines of the program's own code at the peak, each with what it
// called.
// `own_lines` are FindOwnLines(run, image).
void AddOwnLines(const MeasuredRun& run, const MeasuredImage& image,
                 const std::vector<OwnLine>& own_lines,
                 const RunReportOptions& options, Report* report);

// Places in the code: at the peak, how the largest were called, all that was
// allocated, suspected leaks, left at exit, temporary blocks. The rows are
// SiteRows(run, image).
void AddPlaceTables(const MeasuredRun& run, const MeasuredImage& image,
                    const std::vector<SiteRow>& rows,
                    const RunReportOptions& options, Report* report);
void AddCallPaths(const MeasuredRun& run, const MeasuredImage& image,
                  const std::vector<SiteRow>& rows, Report* report);

// Adds what was allocated in stages and is still there at the program's end, by
// place, with counts of blocks.
void AddLeftOfStages(const MeasuredRun& run, const MeasuredImage& image,
                     const RunReportOptions& options, Report* report);

// Adds the tables of where processor time went and who copied, in all processes
// together.
void AddSampleTables(const MeasuredRun& run, const RunReportOptions& options,
                     Report* report);

void AddThreadTable(const MeasuredImage& image, Report* report);

// The processes that needed most and those that were killed, in the order in
// which they began, if there is more than one.
void AddProcessTable(const MeasuredRun& run, Report* report);

// The parts of the resident set; graphics memory.
void AddResidentParts(const MeasuredRun& run, const MeasuredImage& image,
                      Report* report);
void AddGraphicsTable(const MeasuredRun& run, Report* report);

// Returns the column of source lines, which stands last. DropEmptySources
// removes it if no row has a line.
ReportColumn SourceColumn();
void DropEmptySources(ReportTable* table);

// The cells "function" and "where" of a place, and its key in comparisons.
void AddPlace(const CodeFrame& frame, ReportRow* row);

}  // namespace footprint

// Tested by run_report_test.

#endif  // FOOTPRINT_PROFILING_REPORTS_RUN_TABLES_H_
