// The parts of a run's report (run_report.h), one function each. `image` is the
// process that the report is about.
//
//   AddRunFigures(run, image, rows, own_lines, &report);
//
// If the run has no figures for a table, its function adds nothing, or a
// warning or remark that says why. Pure; thread-safe. Memory: what they add.

#ifndef FOOTPRINT_PROFILING_REPORTS_RUN_TABLES_H_
#define FOOTPRINT_PROFILING_REPORTS_RUN_TABLES_H_

#include <vector>

#include "footprint/base/report/report.h"
#include "footprint/profiling/records/measured_run.pb.h"
#include "footprint/profiling/reports/run_report.h"
#include "footprint/profiling/runs/own_lines.h"
#include "footprint/profiling/runs/site_rows.h"

namespace footprint {

// Adds the figures of the peak, its time and place; of resident, mapped and
// allocated bytes; and a container's limit.
void AddRunFigures(const MeasuredRun& run, const MeasuredImage& image,
                   const std::vector<SiteRow>& rows,
                   const std::vector<OwnLine>& own_lines, Report* report);

// Adds warnings about gaps in the figures, so that readers do not take them for
// the whole.
void AddRunWarnings(const MeasuredRun& run, const MeasuredImage& image,
                    Report* report);

// Adds how the run was measured, on which machine, and what was not measured.
void AddRunRemarks(const MeasuredRun& run, const MeasuredImage& image,
                   Report* report);

// Adds whose data the peak is: the program's own, a library's or the
// interpreter's.
void AddPeakOwners(const MeasuredRun& run, const MeasuredImage& image,
                   Report* report);

// Adds the named stages, imports and data files as a tree.
void AddStageTable(const MeasuredImage& image, const RunReportOptions& options,
                   Report* report);

// Adds the lines of the program's own code at the peak, each with the function
// it called. `own_lines` are FindOwnLines(run, image).
void AddOwnLines(const MeasuredRun& run, const MeasuredImage& image,
                 const std::vector<OwnLine>& own_lines,
                 const RunReportOptions& options, Report* report);

// Adds tables of places in the code: at the peak, the calls to the largest
// places (AddCallPaths), all allocations, suspected leaks, bytes left at exit,
// and temporary blocks. The rows are SiteRows(run, image). If call sites were
// recorded, the table of places at the peak is added even without a row.
void AddPlaceTables(const MeasuredRun& run, const MeasuredImage& image,
                    const std::vector<SiteRow>& rows,
                    const RunReportOptions& options, Report* report);
void AddCallPaths(const MeasuredRun& run, const MeasuredImage& image,
                  const std::vector<SiteRow>& rows, Report* report);

// Adds the bytes that stages allocated and that are still live at the program's
// end, by place, with counts of blocks.
void AddLeftOfStages(const MeasuredRun& run, const MeasuredImage& image,
                     const RunReportOptions& options, Report* report);

// Adds the tables of processor time and of copies by place, over all processes.
void AddSampleTables(const MeasuredRun& run, const RunReportOptions& options,
                     Report* report);

// Adds the threads that allocated, with their bytes, if there are several.
void AddThreadTable(const MeasuredImage& image, Report* report);

// Adds the processes that needed most and those that did not end by themselves,
// in the order in which they began, if there are several.
void AddProcessTable(const MeasuredRun& run, Report* report);

// Add the parts of the resident set, and graphics memory.
void AddResidentParts(const MeasuredRun& run, const MeasuredImage& image,
                      Report* report);
void AddGraphicsTable(const MeasuredRun& run, Report* report);

// Returns the column of source lines, which is the last one. DropEmptySources
// removes it if no row has a line.
ReportColumn SourceColumn();
void DropEmptySources(ReportTable* table);

// Adds the cells "function" and "where" of a place, and sets the row's key for
// comparisons.
void AddPlace(const CodeFrame& frame, ReportRow* row);

}  // namespace footprint

// Tested by run_report_test.

#endif  // FOOTPRINT_PROFILING_REPORTS_RUN_TABLES_H_
