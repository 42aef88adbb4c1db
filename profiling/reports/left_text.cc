#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/base/text/text_table.h"
#include "footprint/profiling/reports/report_words.h"
#include "footprint/profiling/reports/text_parts.h"

namespace footprint {

std::string LeftText(const MeasuredImage& image,
                     const std::vector<SiteRow>& rows) {
  constexpr size_t kMaxRows = 5;
  constexpr size_t kMaxFunctionBytes = 60;
  if (!image.has_totals() || image.live_bytes() <= 0) return "";
  std::vector<const SiteRow*> sorted;
  for (const SiteRow& row : rows) {
    if (row.at_end.bytes() > 0) sorted.push_back(&row);
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const SiteRow* a, const SiteRow* b) {
                     return a->at_end.bytes() > b->at_end.bytes();
                   });
  if (sorted.size() > kMaxRows) sorted.resize(kMaxRows);
  if (sorted.empty()) return "";
  TextTable table({{"left at exit", TextTable::kFigures},
                   {"blocks", TextTable::kFigures},
                   {"function"},
                   {"where"}});
  std::vector<std::vector<std::string>> cells;
  for (const SiteRow* row : sorted) {
    cells.push_back({FormatRoundedBytes(row->at_end.bytes()),
                     FormatCount(row->at_end.count()),
                     Shortened(row->frame.function(), kMaxFunctionBytes),
                     PlaceText(row->frame)});
  }
  return TableText(table, cells);
}

}  // namespace footprint
