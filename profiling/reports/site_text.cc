#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/base/text/text_table.h"
#include "footprint/profiling/reports/report_words.h"
#include "footprint/profiling/reports/text_parts.h"
#include "footprint/profiling/runs/amounts.h"
#include "footprint/profiling/runs/site_rows.h"

namespace footprint {
namespace {

constexpr size_t kMaxSites = 12;
constexpr size_t kMaxFunctionBytes = 70;

std::vector<std::string> Cells(const SiteRow& row, int64_t peak_bytes,
                               bool is_sampled) {
  return {
      FormatRoundedBytes(row.at_peak.bytes()),
      Share(row.at_peak.bytes(), peak_bytes),
      is_sampled
          ? FormatRoundedBytes(static_cast<int64_t>(SigmaBytes(row.at_peak)))
          : FormatCount(row.at_peak.count()),
      Shortened(row.frame.function(), kMaxFunctionBytes), PlaceText(row.frame)};
}

}  // namespace

std::string SiteText(const MeasuredRun& run, const MeasuredImage& image,
                     const std::vector<SiteRow>& rows,
                     const ReportThreshold& threshold) {
  if (!image.has_sites()) return "";
  const bool is_sampled = run.sampling_interval_bytes() > 0;
  TextTable table({{"at the peak", TextTable::kFigures},
                   {"share", TextTable::kFigures},
                   {is_sampled ? "sigma" : "blocks", TextTable::kFigures},
                   {"function"},
                   {"where"}});
  std::vector<std::vector<std::string>> shown;
  int64_t other_bytes = 0;
  for (const SiteRow& row : rows) {
    if (shown.size() == kMaxSites || row.at_peak.bytes() <= 0 ||
        threshold.Hides(row.at_peak.bytes(), image.peak_live_bytes())) {
      other_bytes = SaturatedSum(other_bytes, row.at_peak.bytes());
      continue;
    }
    shown.push_back(Cells(row, image.peak_live_bytes(), is_sampled));
  }
  if (is_sampled && shown.empty() && other_bytes == 0) {
    return absl::StrCat(
        "call sites: none of the peak, which no sample of one every ",
        FormatRoundedBytes(run.sampling_interval_bytes()),
        " met; --sampling=0 records each allocation\n");
  }
  std::string text = TableText(table, shown);
  if (other_bytes > 0) {
    absl::StrAppend(&text, "and ", FormatBytes(other_bytes),
                    " at other places\n");
  }
  return absl::StrCat(
      text,
      is_sampled
          ? absl::StrCat("estimated from a sample every ",
                         FormatRoundedBytes(run.sampling_interval_bytes()),
                         "; --sampling=0 records each allocation\n")
          : "each allocation was recorded: the rows add up to the peak\n");
}

}  // namespace footprint
