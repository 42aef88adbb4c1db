#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/base/text/text_table.h"
#include "footprint/profiling/reports/report_words.h"
#include "footprint/profiling/reports/text_parts.h"
#include "footprint/profiling/runs/site_rows.h"

namespace footprint {
namespace {

constexpr int kMaxLeaks = 6;
constexpr size_t kMaxFunctionBytes = 60;

std::string BytesPerSecond(double bytes) {
  // A record may hold anything.
  const bool is_bytes = std::isfinite(bytes) && std::abs(bytes) < 1e18;
  return is_bytes ? absl::StrCat(
                        FormatRoundedBytes(static_cast<int64_t>(bytes)), "/s")
                  : "-";
}

}  // namespace

std::string LeakText(const MeasuredRun& run, const MeasuredImage& image) {
  if (image.suspected_leaks().empty()) return "";
  TextTable table({{"leak?", TextTable::kFigures},
                   {"live", TextTable::kFigures},
                   {"growth", TextTable::kFigures},
                   {"function"},
                   {"where"}});
  std::vector<std::vector<std::string>> rows;
  for (const SuspectedLeak& leak : image.suspected_leaks()) {
    if (rows.size() == kMaxLeaks) break;
    const CodeFrame place = PlaceOf(run, leak.call());
    rows.push_back({absl::StrFormat("%.0f %%", 100 * leak.probability()),
                    FormatRoundedBytes(leak.live_bytes()),
                    BytesPerSecond(leak.growth_bytes_per_s()),
                    Shortened(place.function(), kMaxFunctionBytes),
                    PlaceText(place)});
    table.Fit(rows.back());
  }
  std::string text = table.Headings();
  for (const std::vector<std::string>& row : rows) {
    absl::StrAppend(&text, table.Row(row));
  }
  return absl::StrCat(text, "grew to the last: a leak, or kept by intention\n");
}

}  // namespace footprint
