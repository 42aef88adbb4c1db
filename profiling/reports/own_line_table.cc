#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/profiling/reports/report_words.h"
#include "footprint/profiling/reports/run_tables.h"
#include "footprint/profiling/runs/amounts.h"

namespace footprint {

namespace {

// Returns the name by which a file of Python is imported.
absl::string_view ModuleName(absl::string_view file) {
  if (!absl::ConsumeSuffix(&file, "/__init__.py")) {
    absl::ConsumeSuffix(&file, ".py");
  }
  return FileName(file);
}

// The code of a module runs when it is imported, so its call is an import.
std::string DescribeCalled(const CodeFrame& called) {
  return called.function() == "<module>"
             ? absl::StrCat("import of ", ModuleName(called.file()))
             : called.function();
}

// Function and call share a column, so that the figures are visible on a
// telephone.
std::string DescribeCalls(const OwnLine& line) {
  return line.called.function().empty()
             ? line.frame.function()
             : absl::StrCat(line.frame.function(), " -> ",
                            DescribeCalled(line.called));
}

}  // namespace

void AddOwnLines(const MeasuredRun& run, const MeasuredImage& image,
                 const std::vector<OwnLine>& own_lines,
                 const RunReportOptions& options, Report* report) {
  // Defines the columns.
  const int64_t peak_bytes = image.peak_live_bytes();
  ReportTable table;
  table.heading = "Your lines at the peak";
  table.row_name = "line";
  table.text_rows = 8;
  table.sum_column = 0;
  table.columns = {
      {"your lines", ReportUnit::kBytes},
      {"share", ReportUnit::kShare},
      {"sigma", ReportUnit::kBytes, run.sampling_interval_bytes() <= 0},
      {"allocated", ReportUnit::kBytes, true},
      {"function -> called"},
      {"where"}};
  const bool has_sources = options.source != nullptr;
  if (has_sources) table.columns.push_back(SourceColumn());
  table.compared = {{0, 2}};
  // Adds a row for each line with bytes at the peak.
  int64_t sum = 0;
  bool has_called = false;
  for (const OwnLine& line : own_lines) {
    const int64_t bytes = line.at_peak.bytes();
    if (bytes <= 0) continue;
    sum = SaturatedSum(sum, bytes);
    has_called |= !line.called.function().empty();
    if (options.memory_threshold.Hides(bytes, peak_bytes)) {
      ++table.other_count;
      table.other_sum = SaturatedSum(table.other_sum, bytes);
      continue;
    }
    ReportRow row;
    row.cells = {BytesValue(bytes), ShareValue(bytes, peak_bytes),
                 BytesValue(static_cast<int64_t>(SigmaBytes(line.at_peak))),
                 BytesValue(line.allocated.bytes())};
    const size_t function = row.cells.size();
    AddPlace(line.frame, &row);
    row.cells[function] = TextValue(DescribeCalls(line));
    if (has_sources) row.cells.push_back(TextValue(options.source(line.frame)));
    table.rows.push_back(std::move(row));
  }
  if (has_sources) DropEmptySources(&table);
  // Computes the bytes of the peak that belong to none of the lines.
  int64_t others = -sum;
  for (const SiteAmounts& site : image.sites()) {
    others = SaturatedSum(others, site.at_peak().bytes());
  }
  // If nothing lies between the lines and their blocks, the table of all places
  // has the same rows.
  if (table.rows.empty() || (others <= 0 && !has_called)) return;
  table.note = "each byte at the innermost line of your own code";
  if (others > 0) {
    absl::StrAppend(&table.note, "; ", FormatRoundedBytes(others),
                    " of the peak have none");
  }
  report->tables.push_back(std::move(table));
}

}  // namespace footprint
