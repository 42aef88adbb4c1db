#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/base/text/text_table.h"
#include "footprint/profiling/reports/report_words.h"
#include "footprint/profiling/reports/text_parts.h"
#include "footprint/profiling/runs/amounts.h"

namespace footprint {

std::string TemporaryText(const std::vector<SiteRow>& rows, bool is_sampled) {
  constexpr size_t kMaxRows = 5;
  constexpr size_t kMaxFunctionBytes = 60;
  int64_t temporary_count = 0;
  std::vector<const SiteRow*> sorted;
  for (const SiteRow& row : rows) {
    temporary_count = SaturatedSum(temporary_count, row.temporary_count);
    if (row.temporary_count > 0) sorted.push_back(&row);
  }
  if (temporary_count == 0) return "";
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const SiteRow* a, const SiteRow* b) {
                     return a->temporary_count > b->temporary_count;
                   });
  if (sorted.size() > kMaxRows) sorted.resize(kMaxRows);
  TextTable table({{"temporary", TextTable::kFigures},
                   {"of", TextTable::kFigures},
                   {"function"},
                   {"where"}});
  std::vector<std::vector<std::string>> cells;
  for (const SiteRow* row : sorted) {
    cells.push_back({FormatCount(row->temporary_count),
                     FormatCount(row->allocated.count()),
                     Shortened(row->frame.function(), kMaxFunctionBytes),
                     PlaceText(row->frame)});
  }
  std::string text = TableText(table, cells);
  return absl::StrCat(text, FormatCount(temporary_count),
                      " in all were freed before their thread's next "
                      "allocation",
                      is_sampled ? ", estimated from the samples\n" : "\n");
}

}  // namespace footprint
