#include "footprint/profiling/reports/run_report.h"

#include <limits>
#include <utility>
#include <vector>

#include "footprint/base/report/compare_reports.h"
#include "footprint/profiling/reports/run_tables.h"
#include "footprint/profiling/runs/measured_images.h"
#include "footprint/profiling/runs/own_lines.h"
#include "footprint/profiling/runs/site_rows.h"

namespace footprint {

Report RunReport(const MeasuredRun& run, const RunReportOptions& options) {
  Report report;
  const MeasuredImage* const image = LargestImage(run);
  if (image == nullptr) {
    report.warnings.push_back(
        {"nothing was measured: the agent was not loaded"});
    return report;
  }
  const std::vector<SiteRow> rows = SiteRows(run, *image);
  const std::vector<OwnLine> own_lines = FindOwnLines(run, *image);
  AddRunFigures(run, *image, rows, own_lines, &report);
  AddRunWarnings(run, *image, &report);
  AddPeakOwners(run, *image, &report);
  AddStageTable(*image, options, &report);
  AddOwnLines(run, *image, own_lines, options, &report);
  AddPlaceTables(run, *image, rows, options, &report);
  AddLeftOfStages(run, *image, options, &report);
  AddSampleTables(run, options, &report);
  AddThreadTable(*image, &report);
  AddProcessTable(run, &report);
  AddResidentParts(run, *image, &report);
  AddGraphicsTable(run, &report);
  AddRunRemarks(run, *image, &report);
  for (ReportTable& table : report.tables) {
    KeepFirstRows(options.most_rows, &table);
  }
  return report;
}

Report ComparisonReport(const MeasuredRun& before, const MeasuredRun& after) {
  RunReportOptions options;
  options.most_rows = std::numeric_limits<size_t>::max();
  options.has_small_stages = true;
  return CompareReports(RunReport(before, options), RunReport(after, options));
}

}  // namespace footprint
