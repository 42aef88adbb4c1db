#include "footprint/profiling/reports/csv_report.h"

#include <cstddef>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "footprint/profiling/reports/report_words.h"
#include "footprint/profiling/runs/amounts.h"
#include "footprint/profiling/runs/code_places.h"
#include "footprint/profiling/runs/site_rows.h"

namespace footprint {
namespace {

constexpr size_t kMostCommandBytes = 400;

// Returns the text as a quoted field. A spreadsheet would run a name that
// begins with a sign as a formula.
std::string Field(absl::string_view text) {
  const bool is_formula =
      !text.empty() &&
      absl::string_view("=+-@\t\r").find(text[0]) != absl::string_view::npos;
  return absl::StrCat("\"", is_formula ? "'" : "",
                      absl::StrReplaceAll(text, {{"\"", "\"\""}}), "\"");
}

std::string Left(const MeasuredImage& image, int64_t figure) {
  return image.has_totals() ? absl::StrCat(figure) : "";
}

void AddRow(const MeasuredImage& image, const SiteRow& row, std::string* csv) {
  const CodeFrame& frame = row.frame;
  absl::StrAppend(csv, image.process_id(), ",",
                  Field(ShortCommand(image, kMostCommandBytes)), ",",
                  Field(frame.function()), ",", Field(frame.file()), ",",
                  frame.line() > 0 ? absl::StrCat(frame.line()) : "", ",",
                  Field(frame.module()), ",", row.at_peak.bytes(), ",",
                  static_cast<int64_t>(SigmaBytes(row.at_peak)), ",",
                  row.at_peak.count(), ",", row.allocated.bytes(), ",",
                  row.allocated.count(), ",");
  absl::StrAppend(csv, row.temporary_count, ",",
                  Left(image, row.at_end.bytes()), ",",
                  Left(image, row.at_end.count()), "\r\n");
}

}  // namespace

std::string CsvReport(const MeasuredRun& run) {
  std::string csv =
      "process,command,function,file,line,module,at_peak_bytes,"
      "at_peak_sigma_bytes,at_peak_blocks,allocated_bytes,allocations,"
      "temporary_allocations,left_bytes,left_blocks\r\n";
  const CodePlaces places(run);
  for (const MeasuredImage& image : run.images()) {
    if (!image.has_sites()) continue;
    for (const SiteRow& row : SiteRows(places, image)) {
      AddRow(image, row, &csv);
    }
  }
  return csv;
}

}  // namespace footprint
